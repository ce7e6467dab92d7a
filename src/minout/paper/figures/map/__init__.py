"""For which settings does conditional rehearsal beat random? A map over three knobs."""
