"""Bibliography: every source that a methods text may cite, as BibTeX by its key.

In a text a source is cited as ``[@key]``.
"""

import re
import unicodedata
from collections.abc import Iterable, Mapping

ENTRIES: Mapping[str, str] = {
    "lionetti2025": """@article{lionetti2025,
  title  = {Clinical Uncertainty Impacts Machine Learning Evaluations},
  author = {Lionetti, Simone and Gr{\\"o}ger, Fabian and Gottfrois, Philippe and
            Gonzalez-Jimenez, Alvaro and Amruthalingam, Ludovic and Navarini, Alexander A. and
            Pouly, Marc},
  journal = {arXiv preprint arXiv:2509.22242},
  year   = {2025},
}""",
    "groger2025": """@article{groger2025,
  title  = {{CleanPatrick}: A Benchmark for Image Data Cleaning},
  author = {Gr{\\"o}ger, Fabian and Lionetti, Simone and Gottfrois, Philippe and others},
  year   = {2025},
}""",
    "groger2024": """@inproceedings{groger2024,
  title  = {Intrinsic Self-Supervision for Data Quality Audits},
  author = {Gr{\\"o}ger, Fabian and Lionetti, Simone and Gottfrois, Philippe and others},
  booktitle = {Advances in Neural Information Processing Systems, Datasets and Benchmarks},
  year   = {2024},
}""",
    "boruvka1926": """@article{boruvka1926,
  title  = {O jist{\\'e}m probl{\\'e}mu minim{\\'a}ln{\\'i}m},
  author = {Bor{\\r u}vka, Otakar},
  journal = {Pr{\\'a}ce Moravsk{\\'e} p{\\v r}{\\'i}rodov{\\v e}deck{\\'e} spole{\\v c}nosti},
  volume = {3}, pages = {37--58}, year = {1926},
}""",
    "galdran2023": """@inproceedings{galdran2023,
  title  = {Performance Metrics for Probabilistic Ordinal Classifiers},
  author = {Galdran, Adrian},
  booktitle = {Medical Image Computing and Computer Assisted Intervention},
  year   = {2023},
}""",
    "geifman2019": """@inproceedings{geifman2019,
  title  = {Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers},
  author = {Geifman, Yonatan and Uziel, Guy and El-Yaniv, Ran},
  booktitle = {International Conference on Learning Representations},
  year   = {2019},
}""",
    "traub2024": """@inproceedings{traub2024,
  title  = {Overcoming Common Flaws in the Evaluation of Selective Classification Systems},
  author = {Traub, Jeremias and Bungert, Till J. and L{\\"u}th, Carsten T. and others},
  booktitle = {Advances in Neural Information Processing Systems},
  year   = {2024},
}""",
    "baur2025": """@article{baur2025,
  title  = {Benchmarking Uncertainty and its Disentanglement in multi-label Chest {X}-Ray
    Classification},
  author = {Baur, Simon and Samek, Wojciech and Ma, Jackie},
  journal = {arXiv preprint},
  year   = {2025},
}""",
    "depeweg2018": """@inproceedings{depeweg2018,
  title  = {Decomposition of Uncertainty in {B}ayesian Deep Learning for Efficient and
    Risk-sensitive Learning},
  author = {Depeweg, Stefan and Hern{\'a}ndez-Lobato, Jos{\'e} Miguel and Doshi-Velez, Finale
    and Udluft, Steffen},
  booktitle = {International Conference on Machine Learning},
  year   = {2018},
}""",
    "stutz2025": """@article{stutz2025,
  title  = {Evaluating medical {AI} systems in dermatology under uncertain ground truth},
  author = {Stutz, David and Cemgil, Ali Taylan and Guha Roy, Abhijit and others},
  journal = {Medical Image Analysis},
  year   = {2025},
}""",
    "dawid1979": """@article{dawid1979,
  title  = {Maximum Likelihood Estimation of Observer Error-Rates Using the {EM} Algorithm},
  author = {Dawid, A. P. and Skene, A. M.},
  journal = {Journal of the Royal Statistical Society. Series C},
  volume = {28}, number = {1}, pages = {20--28}, year = {1979},
}""",
    "whitehill2009": """@inproceedings{whitehill2009,
  title  = {Whose Vote Should Count More: Optimal Integration of Labels from Labelers of
            Unknown Expertise},
  author = {Whitehill, Jacob and Ruvolo, Paul and Wu, Tingfan and Bergsma, Jacob and
            Movellan, Javier},
  booktitle = {Advances in Neural Information Processing Systems},
  year   = {2009},
}""",
    "caron2012": """@article{caron2012,
  title  = {Efficient {Bayesian} Inference for Generalized {Bradley--Terry} Models},
  author = {Caron, Fran{\\c{c}}ois and Doucet, Arnaud},
  journal = {Journal of Computational and Graphical Statistics},
  volume = {21}, number = {1}, pages = {174--196}, year = {2012},
}""",
    "krippendorff2004": """@book{krippendorff2004,
  title  = {Content Analysis: An Introduction to Its Methodology},
  author = {Krippendorff, Klaus},
  publisher = {Sage}, year = {2004},
}""",
    "cohen1960": """@article{cohen1960,
  title  = {A Coefficient of Agreement for Nominal Scales},
  author = {Cohen, Jacob},
  journal = {Educational and Psychological Measurement},
  volume = {20}, number = {1}, pages = {37--46}, year = {1960},
}""",
    "delong1988": """@article{delong1988,
  title  = {Comparing the Areas under Two or More Correlated Receiver Operating Characteristic
            Curves: A Nonparametric Approach},
  author = {DeLong, Elizabeth R. and DeLong, David M. and Clarke-Pearson, Daniel L.},
  journal = {Biometrics},
  volume = {44}, number = {3}, pages = {837--845}, year = {1988},
}""",
    "newcombe1998": """@article{newcombe1998,
  title  = {Improved Confidence Intervals for the Difference between Binomial Proportions Based
            on Paired Data},
  author = {Newcombe, Robert G.},
  journal = {Statistics in Medicine},
  volume = {17}, number = {22}, pages = {2635--2650}, year = {1998},
}""",
    "owen2007": """@article{owen2007,
  title  = {The Pigeonhole Bootstrap},
  author = {Owen, Art B.},
  journal = {The Annals of Applied Statistics},
  volume = {1}, number = {2}, pages = {386--411}, year = {2007},
}""",
    "cameron2011": """@article{cameron2011,
  title  = {Robust Inference with Multiway Clustering},
  author = {Cameron, A. Colin and Gelbach, Jonah B. and Miller, Douglas L.},
  journal = {Journal of Business and Economic Statistics},
  volume = {29}, number = {2}, pages = {238--249}, year = {2011},
}""",
    "romano2005": """@article{romano2005,
  title  = {Exact and Approximate Stepdown Methods for Multiple Hypothesis Testing},
  author = {Romano, Joseph P. and Wolf, Michael},
  journal = {Journal of the American Statistical Association},
  volume = {100}, number = {469}, pages = {94--108}, year = {2005},
}""",
    "mogstad2024": """@article{mogstad2024,
  title  = {Inference for Ranks with Applications to Mobility across Neighbourhoods and
            Academic Achievement across Countries},
  author = {Mogstad, Magne and Romano, Joseph P. and Shaikh, Azeem M. and Wilhelm, Daniel},
  journal = {The Review of Economic Studies},
  volume = {91}, number = {1}, pages = {476--518}, year = {2024},
}""",
    "obuchowski1995": """@article{obuchowski1995,
  title  = {Hypothesis Testing of Diagnostic Accuracy for Multiple Readers and Multiple Tests:
            An ANOVA Approach with Dependent Observations},
  author = {Obuchowski, Nancy A. and Rockette, Howard E.},
  journal = {Communications in Statistics - Simulation and Computation},
  volume = {24}, number = {2}, pages = {285--308}, year = {1995},
}""",
    "hillis2007": """@article{hillis2007,
  title  = {A Comparison of Denominator Degrees of Freedom Methods for Multiple Observer ROC
            Analysis},
  author = {Hillis, Stephen L.},
  journal = {Statistics in Medicine},
  volume = {26}, number = {3}, pages = {596--619}, year = {2007},
}""",
    "kumar2019": """@inproceedings{kumar2019,
  title  = {Verified Uncertainty Calibration},
  author = {Kumar, Ananya and Liang, Percy and Ma, Tengyu},
  booktitle = {Advances in Neural Information Processing Systems},
  volume = {32}, year = {2019},
}""",
    "wilson1927": """@article{wilson1927,
  title  = {Probable Inference, the Law of Succession, and Statistical Inference},
  author = {Wilson, Edwin B.},
  journal = {Journal of the American Statistical Association},
  volume = {22}, number = {158}, pages = {209--212}, year = {1927},
}""",
    "efron1993": """@book{efron1993,
  title  = {An Introduction to the Bootstrap},
  author = {Efron, Bradley and Tibshirani, Robert J.},
  publisher = {Chapman and Hall}, year = {1993},
}""",
    "hand2001": """@article{hand2001,
  title  = {A Simple Generalisation of the Area Under the {ROC} Curve for Multiple Class
            Classification Problems},
  author = {Hand, David J. and Till, Robert J.},
  journal = {Machine Learning},
  volume = {45}, pages = {171--186}, year = {2001},
}""",
    "brier1950": """@article{brier1950,
  title  = {Verification of Forecasts Expressed in Terms of Probability},
  author = {Brier, Glenn W.},
  journal = {Monthly Weather Review},
  volume = {78}, number = {1}, pages = {1--3}, year = {1950},
}""",
    "guo2017": """@inproceedings{guo2017,
  title  = {On Calibration of Modern Neural Networks},
  author = {Guo, Chuan and Pleiss, Geoff and Sun, Yu and Weinberger, Kilian Q.},
  booktitle = {International Conference on Machine Learning},
  year   = {2017},
}""",
    "broderick2020": """@article{broderick2020,
  title  = {An Automatic Finite-Sample Robustness Metric: When Can Dropping a Little Data Make
            a Big Difference?},
  author = {Broderick, Tamara and Giordano, Ryan and Meager, Rachael},
  journal = {arXiv preprint arXiv:2011.14999},
  year   = {2020},
}""",
    "holm1979": """@article{holm1979,
  title  = {A Simple Sequentially Rejective Multiple Test Procedure},
  author = {Holm, Sture},
  journal = {Scandinavian Journal of Statistics},
  volume = {6}, number = {2}, pages = {65--70}, year = {1979},
}""",
    "roe1997": """@article{roe1997,
  title  = {Variance-Component Modeling in the Analysis of Receiver Operating Characteristic
            Index Estimates},
  author = {Roe, Cheryl A. and Metz, Charles E.},
  journal = {Academic Radiology},
  volume = {4}, number = {8}, pages = {587--600}, year = {1997},
}""",
    "spearman1910": """@article{spearman1910,
  title  = {Correlation Calculated from Faulty Data},
  author = {Spearman, Charles},
  journal = {British Journal of Psychology},
  volume = {3}, number = {3}, pages = {271--295}, year = {1910},
}""",
    "brown1910": """@article{brown1910,
  title  = {Some Experimental Results in the Correlation of Mental Abilities},
  author = {Brown, William},
  journal = {British Journal of Psychology},
  volume = {3}, number = {3}, pages = {296--322}, year = {1910},
}""",
    "satterthwaite1946": """@article{satterthwaite1946,
  title  = {An Approximate Distribution of Estimates of Variance Components},
  author = {Satterthwaite, F. E.},
  journal = {Biometrics Bulletin},
  volume = {2}, number = {6}, pages = {110--114}, year = {1946},
}""",
    "irvin2019": """@inproceedings{irvin2019,
  title  = {{CheXpert}: A Large Chest Radiograph Dataset with Uncertainty Labels and Expert
            Comparison},
  author = {Irvin, Jeremy and Rajpurkar, Pranav and Ko, Michael and others},
  booktitle = {Proceedings of the {AAAI} Conference on Artificial Intelligence},
  volume = {33}, pages = {590--597}, year = {2019},
}""",
    "rajpurkar2021": """@inproceedings{rajpurkar2021,
  title  = {{CheXternal}: Generalization of Deep Learning Models for Chest X-ray Interpretation
            to Photos of Chest X-rays and External Clinical Settings},
  author = {Rajpurkar, Pranav and Joshi, Anirudh and Pareek, Anuj and Ng, Andrew Y. and
            Lungren, Matthew P.},
  booktitle = {Proceedings of the Conference on Health, Inference, and Learning},
  year   = {2021},
}""",
    "peterson2019": """@inproceedings{peterson2019,
  title  = {Human Uncertainty Makes Classification More Robust},
  author = {Peterson, Joshua C. and Battleday, Ruairidh M. and Griffiths, Thomas L. and
            Russakovsky, Olga},
  booktitle = {Proceedings of the {IEEE/CVF} International Conference on Computer Vision},
  year   = {2019},
}""",
    "guillot2020": """@article{guillot2020,
  title  = {{Dreem} Open Datasets: Multi-Scored Sleep Datasets to Compare Human and Automated
            Sleep Staging},
  author = {Guillot, Antoine and Sauvet, Fabien and During, Emmanuel H. and Thorey, Valentin},
  journal = {{IEEE} Transactions on Neural Systems and Rehabilitation Engineering},
  volume = {28}, number = {9}, pages = {1955--1965}, year = {2020},
}""",
    "altman_sensitivity1994": """@article{altman_sensitivity1994,
  title  = {Diagnostic tests 1: sensitivity and specificity},
  author = {Altman, Douglas G. and Bland, J. Martin},
  journal = {BMJ},
  volume = {308}, number = {6943}, pages = {1552}, year = {1994},
}""",
    "altman_predictive1994": """@article{altman_predictive1994,
  title  = {Diagnostic tests 2: predictive values},
  author = {Altman, Douglas G. and Bland, J. Martin},
  journal = {BMJ},
  volume = {309}, number = {6947}, pages = {102}, year = {1994},
}""",
    "vanrijsbergen1979": """@book{vanrijsbergen1979,
  title  = {Information Retrieval},
  author = {van Rijsbergen, C. J.},
  publisher = {Butterworths}, edition = {2nd}, year = {1979},
}""",
    "brodersen2010": """@inproceedings{brodersen2010,
  title  = {The Balanced Accuracy and Its Posterior Distribution},
  author = {Brodersen, Kay H. and Ong, Cheng Soon and Stephan, Klaas E. and Buhmann, Joachim
            M.},
  booktitle = {20th International Conference on Pattern Recognition},
  pages  = {3121--3124}, year = {2010},
}""",
    "matthews1975": """@article{matthews1975,
  title  = {Comparison of the predicted and observed secondary structure of {T4} phage
            lysozyme},
  author = {Matthews, B. W.},
  journal = {Biochimica et Biophysica Acta},
  volume = {405}, number = {2}, pages = {442--451}, year = {1975},
}""",
    "gorodkin2004": """@article{gorodkin2004,
  title  = {Comparing two {K}-category assignments by a {K}-category correlation coefficient},
  author = {Gorodkin, Jan},
  journal = {Computational Biology and Chemistry},
  volume = {28}, number = {5--6}, pages = {367--374}, year = {2004},
}""",
    "pepe2003": """@book{pepe2003,
  title  = {The Statistical Evaluation of Medical Tests for Classification and Prediction},
  author = {Pepe, Margaret Sullivan},
  publisher = {Oxford University Press}, year = {2003},
}""",
    "vickers2006": """@article{vickers2006,
  title  = {Decision Curve Analysis: A Novel Method for Evaluating Prediction Models},
  author = {Vickers, Andrew J. and Elkin, Elena B.},
  journal = {Medical Decision Making},
  volume = {26}, number = {6}, pages = {565--574}, year = {2006},
}""",
    "ramaswamy2000": """@inproceedings{ramaswamy2000,
  title  = {Efficient Algorithms for Mining Outliers from Large Data Sets},
  author = {Ramaswamy, Sridhar and Rastogi, Rajeev and Shim, Kyuseok},
  booktitle = {ACM SIGMOD International Conference on Management of Data},
  year   = {2000},
}""",
    "zhao2019": """@article{zhao2019,
  title  = {{PyOD}: A {Python} Toolbox for Scalable Outlier Detection},
  author = {Zhao, Yue and Nasrullah, Zain and Li, Zheng},
  journal = {Journal of Machine Learning Research},
  volume = {20}, number = {96}, pages = {1--7}, year = {2019},
}""",
    "liu2008": """@inproceedings{liu2008,
  title  = {Isolation Forest},
  author = {Liu, Fei Tony and Ting, Kai Ming and Zhou, Zhi-Hua},
  booktitle = {IEEE International Conference on Data Mining},
  year   = {2008},
}""",
    "goldstein2012": """@inproceedings{goldstein2012,
  title  = {Histogram-based Outlier Score ({HBOS}): A Fast Unsupervised Anomaly Detection
            Algorithm},
  author = {Goldstein, Markus and Dengel, Andreas},
  booktitle = {KI-2012: Poster and Demo Track},
  year   = {2012},
}""",
    "li2022": """@article{li2022,
  title  = {{ECOD}: Unsupervised Outlier Detection Using Empirical Cumulative Distribution
            Functions},
  author = {Li, Zheng and Zhao, Yue and Hu, Xiyang and others},
  journal = {IEEE Transactions on Knowledge and Data Engineering},
  year   = {2022},
}""",
    "aggarwal2015": """@book{aggarwal2015,
  title  = {Outlier Analysis},
  author = {Aggarwal, Charu C.},
  publisher = {Springer}, year = {2015},
}""",
    "kingma2014": """@inproceedings{kingma2014,
  title  = {Auto-Encoding Variational {Bayes}},
  author = {Kingma, Diederik P. and Welling, Max},
  booktitle = {International Conference on Learning Representations},
  year   = {2014},
}""",
    "ruff2018": """@inproceedings{ruff2018,
  title  = {Deep One-Class Classification},
  author = {Ruff, Lukas and Vandermeulen, Robert and Goernitz, Nico and others},
  booktitle = {International Conference on Machine Learning},
  year   = {2018},
}""",
    "xu2023": """@article{xu2023,
  title  = {Deep Isolation Forest for Anomaly Detection},
  author = {Xu, Hongzuo and Pang, Guansong and Wang, Yijie and Wang, Yongjun},
  journal = {IEEE Transactions on Knowledge and Data Engineering},
  year   = {2023},
}""",
    "venkatesan2000": """@inproceedings{venkatesan2000,
  title  = {Robust Image Hashing},
  author = {Venkatesan, Ramarathnam and Koon, S.-M. and Jakubowski, Mariusz H. and
            Moulin, Pierre},
  booktitle = {International Conference on Image Processing},
  year   = {2000},
}""",
    "wang2004": """@article{wang2004,
  title  = {Image Quality Assessment: From Error Visibility to Structural Similarity},
  author = {Wang, Zhou and Bovik, Alan C. and Sheikh, Hamid R. and Simoncelli, Eero P.},
  journal = {IEEE Transactions on Image Processing},
  volume = {13}, number = {4}, pages = {600--612}, year = {2004},
}""",
    "northcutt2021": """@article{northcutt2021,
  title  = {Confident Learning: Estimating Uncertainty in Dataset Labels},
  author = {Northcutt, Curtis and Jiang, Lu and Chuang, Isaac},
  journal = {Journal of Artificial Intelligence Research},
  volume = {70}, pages = {1373--1411}, year = {2021},
}""",
    "wilson1972": """@article{wilson1972,
  title  = {Asymptotic Properties of Nearest Neighbor Rules Using Edited Data},
  author = {Wilson, Dennis L.},
  journal = {IEEE Transactions on Systems, Man, and Cybernetics},
  volume = {SMC-2}, number = {3}, pages = {408--421}, year = {1972},
}""",
    "sharma2020": """@inproceedings{sharma2020,
  title  = {{NoiseRank}: Unsupervised Label Noise Reduction with Dependence Models},
  author = {Sharma, Karishma and Donmez, Pinar and Luo, Enming and Liu, Yan and
            Yalniz, I. Zeki},
  booktitle = {European Conference on Computer Vision},
  year   = {2020},
}""",
    "kim2021": """@inproceedings{kim2021,
  title  = {{FINE} Samples for Learning with Noisy Labels},
  author = {Kim, Taehyeon and Ko, Jongwoo and Cho, Sangwook and Choi, JinHwan and
            Yun, Se-Young},
  booktitle = {Advances in Neural Information Processing Systems},
  year   = {2021},
}""",
    "yu2023": """@inproceedings{yu2023,
  title  = {Delving into Noisy Label Detection with Clean Data},
  author = {Yu, Chenglin and Ma, Xinsong and Liu, Weiwei},
  booktitle = {International Conference on Machine Learning},
  pages  = {40290--40305}, year = {2023},
}""",
    "wei2022": """@inproceedings{wei2022,
  title  = {Learning with Noisy Labels Revisited: A Study Using Real-World Human Annotations},
  author = {Wei, Jiaheng and Zhu, Zhaowei and Cheng, Hao and Liu, Tongliang and Niu, Gang and
            Liu, Yang},
  booktitle = {International Conference on Learning Representations},
  year   = {2022},
}""",
    "stutz2023": """@article{stutz2023,
  title  = {Conformal Prediction under Ambiguous Ground Truth},
  author = {Stutz, David and Guha Roy, Abhijit and Matejovicova, Tatiana and Strachan,
            Patricia and Cemgil, Ali Taylan and Doucet, Arnaud},
  journal = {Transactions on Machine Learning Research},
  year   = {2023},
}""",
}


def cite(*keys: str) -> str:
    """Sources at the end of a sentence, each once; nothing where there is none.

    Examples
    --------
    >>> cite("dawid1979", "whitehill2009"), cite()
    (' [@dawid1979; @whitehill2009]', '')
    """
    return f" [{'; '.join(f'@{key}' for key in dict.fromkeys(keys))}]" if keys else ""


def bibtex(keys: Iterable[str]) -> str:
    """BibTeX entries of sources, each once.

    Examples
    --------
    >>> bibtex(["wilson1927", "wilson1927"]).count("@article")
    1
    """
    return "\n\n".join(ENTRIES[key] for key in dict.fromkeys(keys)) + "\n"


def cited(keys: Iterable[str]) -> list[tuple[str, str]]:
    """Sources as people read them, each once: a short name, and the whole.

    Examples
    --------
    >>> cited(["groger2025"])[0][0]
    'Gröger and others 2025'
    >>> cited(["dawid1979"])[0][0]
    'Dawid and Skene 1979'
    """
    return [_as_read(ENTRIES[key]) for key in dict.fromkeys(keys)]


ACCENTS = {'"': "\u0308", "'": "\u0301", "`": "\u0300", "^": "\u0302", "~": "\u0303"}


def _as_read(entry: str) -> tuple[str, str]:
    found = re.findall(r"(\w+)\s*=\s*\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}", entry)
    fields = {name: _plain(text) for name, text in found}
    people = [one.partition(",")[0] for one in fields.get("author", "").split(" and ")]
    who = " and ".join(people) if len(people) < 3 and "others" not in people else (
        f"{people[0]} and others")  # fmt: skip
    year = fields.get("year", "")
    where = fields.get("journal") or fields.get("booktitle") or fields.get("publisher", "")
    whole = f"{who}. {fields.get('title', '')}. {', '.join(filter(None, [where, year]))}."
    return f"{who} {year}".strip(), whole


def _plain(text: str) -> str:
    """Text of BibTeX without its braces, accents as letters."""

    def letter(found: re.Match[str]) -> str:
        return unicodedata.normalize("NFC", found[2] + ACCENTS[found[1]])

    text = re.sub(r"\{?\\([\"'`^~])\{?(\w)\}?\}?", letter, text)
    return " ".join(re.sub(r"[{}\\]", "", text).replace("--", "–").split())
