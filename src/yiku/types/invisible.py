"""
Invisible Unicode characters: controls, formats, direction marks, tags, variation selectors, fillers. Data only.

A terminal obeys some of them, and a language model reads all of them, while a person sees nothing. Each constant is the
inside of a character class. The ranges are those of Unicode: general categories Cc, Cf, Cs, Zl and Zp, and the property
Default_Ignorable_Code_Point (https://www.unicode.org/reports/tr44/).
"""

# Line feed and tab are no part of any of these: they are text.
CONTROLS = "\0-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff"
JOINERS = "\u200c\u200d\ufe00-\ufe0f"  # inside an emoji or a word of some scripts; they steer nothing
FORMATS = (
    "\xad\u034f\u0600-\u0605\u061c\u06dd\u070f\u0890\u0891\u08e2\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\ufffe\uffff\U000110bd\U000110cd\U00013430-\U0001343f\U0001bca0-\U0001bca3"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
UNSEEN = CONTROLS + FORMATS
