"""What a producer has done by itself: scenes switched, people notified."""
