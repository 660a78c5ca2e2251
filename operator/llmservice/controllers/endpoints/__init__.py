"""What the operator answers about itself: probes, figures and explanations, and who may read them."""
