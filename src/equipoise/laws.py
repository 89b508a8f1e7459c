"""Laws: the former names of what `equipoise.posteriors` holds."""

from equipoise.posteriors import POSTERIORS, Categorical, Dirichlet, NormalPosterior, Posterior

Law = Posterior
Labels = Categorical
NormalLaw = NormalPosterior
LAWS = POSTERIORS

__all__ = ["LAWS", "Dirichlet", "Labels", "Law", "NormalLaw"]
