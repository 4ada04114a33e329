"""`python -m trainsleuth_mcp` serves over stdio."""

from trainsleuth_mcp import main

main()
