"""What runs where submissions run: it knows no answers, and imports nothing of the grader."""
