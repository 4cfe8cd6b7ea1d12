"""Raw bytes of live meters in files: recorded without a campaign, and read later."""
