"""Every dependency stopped, paused, slow, refusing or cut off: no answer lies, none hangs, and all of it recovers."""
