"""What every process needs and no product noun: servers, channels, telemetry, words."""
