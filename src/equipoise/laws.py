"""Laws: the former names of what `equipoise.posteriors` holds."""

from equipoise.posteriors import POSTERIORS, Categorical, Dirichlet, NormalPosterior, Posterior

Law, Labels, NormalLaw, LAWS = Posterior, Categorical, NormalPosterior, POSTERIORS

__all__ = ["LAWS", "Dirichlet", "Labels", "Law", "NormalLaw"]
