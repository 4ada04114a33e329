"""What a setting, or an expression that reads settings, is worth."""
