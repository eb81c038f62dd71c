"""What every process needs and no product noun: settings, errors, servers, channels, bus, telemetry, words."""
