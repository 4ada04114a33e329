"""What no component answers: questions, words, places, searches."""
