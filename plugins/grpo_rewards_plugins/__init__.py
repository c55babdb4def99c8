"""The built-in rewards, registered through the same door as anyone's."""
