"""Words and names that the checks count."""

# ruff: noqa: SIM905 - tables of words read better as words

from __future__ import annotations

NAMES = tuple(
    (
        "Emma Liam Sophia Jackson Olivia Noah Ava Lucas Isabella Mason Mia Ethan Charlotte Alexander Amelia "
        "Benjamin Harper Leo Zoe Daniel Chloe Samuel Lily Matthew Grace Owen Abigail Gabriel Ella Jacob "
        "Scarlett Nathan Victoria Elijah Layla Nicholas Audrey David Hannah Christopher Penelope Thomas Nora "
        "Andrew Aria Joseph Claire Ryan Stella Jonathan"
    ).split()
)
"""The 50 first names that IFBench's prompt gives."""

PRONOUNS = tuple(
    (
        "i me we us you he him she her it they them my mine our ours your yours his hers its their theirs "
        "myself ourselves yourself yourselves himself herself itself themselves this that these those who "
        "whom whose which what whoever whomever whatever whichever anybody anyone anything everybody everyone "
        "everything nobody nothing somebody someone something each either neither both all some any none"
    ).split()
)
"""What IFBench counts as pronouns."""

CONJUNCTIONS = tuple(("and but for nor or so yet").split())
"""The coordinating conjunctions."""

CAPITALS = tuple(
    (
        "Reykjavik Helsinki Oslo Tallinn Stockholm Riga Moscow Copenhagen Vilnius Minsk Dublin Berlin "
        "Amsterdam Warsaw London Brussels Prague Luxembourg Paris Vienna Bratislava Budapest Vaduz Chisinau "
        "Bern Ljubljana Zagreb"
    ).split()
)
"""The capitals of Europe north of 45 degrees, by latitude, as IFBench has them."""

STOP_WORDS = tuple(
    (
        "a about above after again against ain all am an and any are aren aren't as at be because been before "
        "being below between both but by can couldn couldn't d did didn didn't do does doesn doesn't doing "
        "don don't down during each few for from further had hadn hadn't has hasn hasn't have haven haven't "
        "having he he'd he'll her here hers herself he's him himself his how i i'd if i'll i'm in into is isn "
        "isn't it it'd it'll it's its itself i've just ll m ma me mightn mightn't more most mustn mustn't my "
        "myself needn needn't no nor not now o of off on once only or other our ours ourselves out over own "
        "re s same shan shan't she she'd she'll she's should shouldn shouldn't should've so some such t than "
        "that that'll the their theirs them themselves then there these they they'd they'll they're they've "
        "this those through to too under until up ve very was wasn wasn't we we'd we'll we're were weren "
        "weren't we've what when where which while who whom why will with won won't wouldn wouldn't y you "
        "you'd you'll your you're yours yourself yourselves you've"
    ).split()
)
"""The English stop words of nltk_data."""
