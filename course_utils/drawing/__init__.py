"""Pictures that speak one visual language and always carry their own description in words."""
