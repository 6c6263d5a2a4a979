"""How a text is cut: folding letter for letter, words with their places, sentences, and what is not prose."""
