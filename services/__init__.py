"""The processes of Zocrates, one folder each, and the chassis that they share."""
