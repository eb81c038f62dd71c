"""From files to pages, sections and passages."""
