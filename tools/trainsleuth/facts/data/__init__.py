"""What training is given: data sets, the loaders and samplers that draw from them, their workers, and splits."""
