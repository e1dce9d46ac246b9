"""The methods of Alliot 2017: conformance, covariance, Markov, complexity. Pure."""
