"""What both ends of a call agree on beyond the messages: ids, channel options, errors on the wire, how calls end."""
