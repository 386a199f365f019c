"""Objects of privacy libraries as mechanisms: OpenDP's measurements, diffprivlib's mechanisms, pure-LDP's clients.

An object of a library carries its own claim. What is claimed, and on which neighbouring inputs, is read off the object.
No library is imported before an object of it is audited.
"""
