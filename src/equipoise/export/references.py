"""References: the sources of what was actually run, as BibTeX.

Every metric, aggregation model, resampling and analysis names the keys it rests on.
"""

from collections.abc import Iterable, Mapping

ENTRIES: Mapping[str, str] = {
    "lionetti": """@article{lionetti_clinical_uncertainty,
  title  = {Clinical Uncertainty Impacts Machine Learning Evaluations},
  author = {Lionetti, Simone and Gr{\\"o}ger, Fabian and Gottfrois, Philippe and
            Gonzalez-Jimenez, Alvaro and Amruthalingam, Ludovic and Navarini, Alexander A. and
            Pouly, Marc},
}""",
    "groger": """@article{groger_cleanpatrick,
  title  = {{CleanPatrick}: A Benchmark for Image Data Cleaning},
  author = {Gr{\\"o}ger, Fabian and Lionetti, Simone and Gottfrois, Philippe and others},
  year   = {2025},
}""",
    "galdran": """@inproceedings{galdran_ordinal,
  title  = {Performance Metrics for Probabilistic Ordinal Classifiers},
  author = {Galdran, Adrian},
  booktitle = {Medical Image Computing and Computer Assisted Intervention},
  year   = {2023},
}""",
    "stutz": """@article{stutz_uncertain_ground_truth,
  title  = {Evaluating medical {AI} systems in dermatology under uncertain ground truth},
  author = {Stutz, David and Cemgil, Ali Taylan and Guha Roy, Abhijit and others},
  journal = {Medical Image Analysis},
}""",
    "dawid": """@article{dawid_skene,
  title  = {Maximum Likelihood Estimation of Observer Error-Rates Using the {EM} Algorithm},
  author = {Dawid, A. P. and Skene, A. M.},
  journal = {Journal of the Royal Statistical Society. Series C},
  volume = {28}, number = {1}, pages = {20--28}, year = {1979},
}""",
    "whitehill": """@inproceedings{whitehill_glad,
  title  = {Whose Vote Should Count More: Optimal Integration of Labels from Labelers of
            Unknown Expertise},
  author = {Whitehill, Jacob and Ruvolo, Paul and Wu, Tingfan and Bergsma, Jacob and
            Movellan, Javier},
  booktitle = {Advances in Neural Information Processing Systems},
  year   = {2009},
}""",
    "caron": """@article{caron_doucet,
  title  = {Efficient {Bayesian} Inference for Generalized {Bradley--Terry} Models},
  author = {Caron, Fran{\\c{c}}ois and Doucet, Arnaud},
  journal = {Journal of Computational and Graphical Statistics},
  volume = {21}, number = {1}, pages = {174--196}, year = {2012},
}""",
    "krippendorff": """@book{krippendorff_content_analysis,
  title  = {Content Analysis: An Introduction to Its Methodology},
  author = {Krippendorff, Klaus},
  publisher = {Sage}, year = {2004},
}""",
    "cohen": """@article{cohen_kappa,
  title  = {A Coefficient of Agreement for Nominal Scales},
  author = {Cohen, Jacob},
  journal = {Educational and Psychological Measurement},
  volume = {20}, number = {1}, pages = {37--46}, year = {1960},
}""",
    "delong": """@article{delong,
  title  = {Comparing the Areas under Two or More Correlated Receiver Operating Characteristic
            Curves: A Nonparametric Approach},
  author = {DeLong, Elizabeth R. and DeLong, David M. and Clarke-Pearson, Daniel L.},
  journal = {Biometrics},
  volume = {44}, number = {3}, pages = {837--845}, year = {1988},
}""",
    "wilson": """@article{wilson_interval,
  title  = {Probable Inference, the Law of Succession, and Statistical Inference},
  author = {Wilson, Edwin B.},
  journal = {Journal of the American Statistical Association},
  volume = {22}, number = {158}, pages = {209--212}, year = {1927},
}""",
    "efron": """@book{efron_tibshirani,
  title  = {An Introduction to the Bootstrap},
  author = {Efron, Bradley and Tibshirani, Robert J.},
  publisher = {Chapman and Hall}, year = {1993},
}""",
    "hand": """@article{hand_till,
  title  = {A Simple Generalisation of the Area Under the {ROC} Curve for Multiple Class
            Classification Problems},
  author = {Hand, David J. and Till, Robert J.},
  journal = {Machine Learning},
  volume = {45}, pages = {171--186}, year = {2001},
}""",
    "brier": """@article{brier,
  title  = {Verification of Forecasts Expressed in Terms of Probability},
  author = {Brier, Glenn W.},
  journal = {Monthly Weather Review},
  volume = {78}, number = {1}, pages = {1--3}, year = {1950},
}""",
    "guo": """@inproceedings{guo_calibration,
  title  = {On Calibration of Modern Neural Networks},
  author = {Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.},
  booktitle = {International Conference on Machine Learning},
  year   = {2017},
}""",
    "broderick": """@article{broderick_dropping,
  title  = {An Automatic Finite-Sample Robustness Metric: When Can Dropping a Little Data Make
            a Big Difference?},
  author = {Broderick, Tamara and Giordano, Ryan and Meager, Rachael},
  journal = {arXiv preprint arXiv:2011.14999},
  year   = {2020},
}""",
    "holm": """@article{holm,
  title  = {A Simple Sequentially Rejective Multiple Test Procedure},
  author = {Holm, Sture},
  journal = {Scandinavian Journal of Statistics},
  volume = {6}, number = {2}, pages = {65--70}, year = {1979},
}""",
    "demsar": """@article{demsar,
  title  = {Statistical Comparisons of Classifiers over Multiple Data Sets},
  author = {Dem{\\v{s}}ar, Janez},
  journal = {Journal of Machine Learning Research},
  volume = {7}, pages = {1--30}, year = {2006},
}""",
}

SOURCES: Mapping[str, tuple[str, ...]] = {
    "auroc": ("lionetti",),
    "average_precision": ("lionetti",),
    "precision_at": ("lionetti", "wilson"),
    "recall_at": ("lionetti",),
    "auroc:multiclass=ovo": ("hand",),
    "ranked_probability_score": ("galdran",),
    "squared_absolute_rps": ("galdran",),
    "retained_samples_area": ("galdran",),
    "expected_cost": ("galdran",),
    "normalised_expected_cost": ("galdran",),
    "quadratic_weighted_kappa": ("cohen", "galdran"),
    "brier_score": ("brier",),
    "expected_calibration_error": ("guo",),
    "maximum_calibration_error": ("guo",),
    "topk_accuracy": ("stutz",),
    "set_accuracy": ("stutz",),
    "overlap": ("stutz",),
    "average_overlap": ("stutz",),
    "dawid_skene": ("dawid",),
    "dawid_skene_ordinal": ("dawid",),
    "glad": ("whitehill", "groger"),
    "plackett_luce": ("caron", "stutz"),
    "plackett_luce_ml": ("caron",),
    "inverse_rank": ("stutz",),
    "probabilistic_inverse_rank": ("stutz",),
    "dirichlet": ("stutz",),
    "certainty": ("stutz",),
    "votes": ("lionetti", "efron"),
    "panel": ("lionetti", "efron"),
    "items": ("efron",),
    "influence": ("delong",),
    "agreement": ("krippendorff", "cohen"),
    "thresholds": ("groger",),
    "ranking": ("lionetti", "efron"),
    "flips": ("broderick",),
    "leave_one_out": ("groger", "cohen"),
    "vote_cutoffs": ("groger",),
    "critical_difference": ("demsar",),
    "subgroups": ("krippendorff", "holm"),
    "threshold_sweep": ("groger",),
}


def references(used: Iterable[str]) -> list[str]:
    """Keys of the sources of what was used, each once, in the order of first use.

    Names may carry parameters (``auroc:form=strict``) and numbers (``precision_at_100``); what
    has no source of its own adds nothing.

    Examples
    --------
    >>> references(["auroc:form=strict", "precision_at_100", "items"])
    ['lionetti', 'wilson', 'efron']
    """
    keys: list[str] = []
    for name in used:
        plain = name.split(":")[0]
        near = plain.rsplit("_", 1)[0] if plain.rsplit("_", 1)[-1].isdigit() else plain
        for key in (*SOURCES.get(name, ()), *SOURCES.get(near, ())):
            if key not in keys:
                keys.append(key)
    return keys


def bibtex(used: Iterable[str]) -> str:
    """BibTeX entries of the sources of what was used."""
    return "\n\n".join(ENTRIES[key] for key in references(used)) + "\n"
