"""Generated calls: new inputs combined from recorded ones."""
