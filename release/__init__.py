"""What is done once for a release: wheels made and tried, and the page that says what was."""
