"""What a person states about themselves: what is told of it, in which words, and what states nothing."""

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from vault_mind.memory import KINDS
from vault_mind.statements import Statement, statements
from vault_mind.third_person import third_person

# kind | what was said | what is told of it; the quote is what was said, without the full stop
TOLD = """
    fact | My name is Ada. | The user's name is Ada.
    fact | My name's Ada Lovelace. | The user's name is Ada Lovelace.
    fact | I quit my job at Acme. | The user quit their job at Acme.
    fact | I've sold my Volvo. | The user has sold their Volvo.
    fact | I gave up coffee. | The user gave up coffee.
    fact | I stopped smoking in May. | The user stopped smoking in May.
    fact | My dog Rex died last week. | The user's dog Rex died last week.
    fact | I'm no longer allergic to nuts. | The user is no longer allergic to nuts.
    fact | I just started working at Initech. | The user just started working at Initech.
    fact | I got married to Tomas. | The user got married to Tomas.
    fact | Call me Ishmael. | The user's name is Ishmael.
    fact | I'm called Bob. | The user's name is Bob.
    fact | I am Ada. | The user is Ada.
    fact | I'm Ada Lovelace | The user is Ada Lovelace.
    fact | I am Jean-Luc O'Brien. | The user is Jean-Luc O'Brien.
    fact | I'm Élodie. | The user is Élodie.
    fact | My nickname is Jo. | The user's nickname is Jo.
    preference | I prefer to be called Jo. | The user prefers to be called Jo.
    preference | I don't want to be called Joanna. | The user doesn't want to be called Joanna.
    fact | My pronouns are they/them. | The user's pronouns are they/them.
    preference | I want to be called Jo. | The user wants to be called Jo.
    fact | I am 42. | The user is 42.
    fact | I'm 42 years old. | The user is 42 years old.
    fact | My birthday is 3 May. | The user's birthday is 3 May.
    fact | My birthday's on 3 May. | The user's birthday is on 3 May.
    fact | My email address is ada@example.com. | The user's email address is ada@example.com.

    fact | I'm from Ghent. | The user is from Ghent.
    fact | I come from Norway. | The user comes from Norway.
    fact | I live in Antwerp. | The user lives in Antwerp.
    fact | i live in ghent | The user lives in ghent.
    fact | I live in São Paulo. | The user lives in São Paulo.
    fact | I've moved to Lisbon. | The user has moved to Lisbon and lives there.
    fact | I just moved to Berlin from Paris. | The user just moved to Berlin from Paris and lives there.
    fact | I grew up in Cork. | The user grew up in Cork.
    fact | I was born on 3 May 1981 in Leeds. | The user was born on 3 May 1981 in Leeds.
    fact | I have lived in Ghent since 2026. | The user has lived in Ghent since 2026.
    fact | I still live with my parents. | The user still lives with their parents.
    fact | I live in Ghent with my partner Tomas. | The user lives in Ghent with their partner Tomas.
    fact | My address is 12 High Street. | The user's address is 12 High Street.
    fact | My house was built in 1920. | The user's house was built in 1920.

    fact | I work as a nurse. | The user works as a nurse.
    fact | I work at Tidewright as a backend engineer. | The user works at Tidewright as a backend engineer.
    fact | I'm a backend engineer. | The user is a backend engineer.
    fact | I'm an LGBT activist. | The user is an LGBT activist.
    fact | I mostly work from home. | The user mostly works from home.
    fact | I've worked at Tidewright for six years. | The user has worked at Tidewright for six years.
    fact | I teach maths at a secondary school. | The user teaches maths at a secondary school.
    fact | I study law in Leuven. | The user studies law in Leuven.
    fact | I'm currently learning Japanese. | The user is currently learning Japanese.
    fact | I'm studying to be a nurse. | The user is studying to be a nurse.
    fact | I'm writing a novel. | The user is writing a novel.
    fact | I'm building a tide clock. | The user is building a tide clock.
    fact | I'm retired. | The user is retired.
    fact | My boss is called Karel. | The user's boss is called Karel.
    fact | I commute by bike. | The user commutes by bike.

    preference | I prefer tea to coffee. | The user prefers tea to coffee.
    preference | I'd rather have green tea in the morning. | The user would rather have green tea in the morning.
    preference | I love hiking in the Alps. | The user loves hiking in the Alps.
    preference | I hate coriander. | The user hates coriander.
    preference | I can't stand olives. | The user can't stand olives.
    preference | I cannot stand loud music. | The user cannot stand loud music.
    preference | I can't bear hot weather. | The user can't bear hot weather.
    preference | I don't like mushrooms. | The user doesn't like mushrooms.
    preference | I do not eat meat. | The user does not eat meat.
    preference | I don't drink alcohol. | The user doesn't drink alcohol.
    preference | I like my steak rare. | The user likes their steak rare.
    preference | I really like jazz. | The user really likes jazz.
    preference | I like short answers in plain words. | The user likes short answers in plain words.
    preference | I like C++ and F#. | The user likes C++ and F#.
    preference | I enjoy cooking for myself. | The user enjoys cooking for themselves.
    preference | I love my wife's cooking. | The user loves their wife's cooking.
    preference | I'm into bouldering. | The user is into bouldering.
    preference | I'm a big fan of Miyazaki. | The user is a big fan of Miyazaki.
    preference | I'm not a fan of jazz. | The user is not a fan of jazz.
    preference | My favourite colour is green. | The user's favourite colour is green.
    preference | My favorite food is ramen. | The user's favorite food is ramen.
    preference | My favourite site is example.com. | The user's favourite site is example.com.

    fact | I'm allergic to peanuts. | The user is allergic to peanuts.
    fact | I am severely allergic to bee stings. | The user is severely allergic to bee stings.
    fact | I'm intolerant to lactose. | The user is intolerant to lactose.
    fact | I have a nut allergy. | The user has a nut allergy.
    fact | I have an allergy to penicillin. | The user has an allergy to penicillin.
    fact | I'm vegetarian. | The user is vegetarian.
    fact | I'm a strict vegan. | The user is a strict vegan.
    fact | I'm coeliac. | The user is coeliac.
    fact | I'm diabetic. | The user is diabetic.
    fact | I'm colour-blind. | The user is colour-blind.
    fact | I'm left-handed. | The user is left-handed.
    fact | I'm lactose intolerant. | The user is lactose intolerant.
    fact | I can't eat gluten. | The user can't eat gluten.
    fact | I have asthma. | The user has asthma.
    fact | I've been vegan for ten years. | The user has been vegan for ten years.
    preference | I no longer eat meat. | The user no longer eats meat.
    fact | I take insulin every morning. | The user takes insulin every morning.

    fact | I'm married to Tomas. | The user is married to Tomas.
    fact | I have two children. | The user has two children.
    fact | I've got two cats. | The user has two cats.
    fact | I don't have a car. | The user doesn't have a car.
    fact | I have two children: Ana and Bo. | The user has two children: Ana and Bo.
    fact | I have no siblings. | The user has no siblings.
    fact | I have a sister who lives in Oslo. | The user has a sister who lives in Oslo.
    fact | My wife is a doctor. | The user's wife is a doctor.
    fact | My sister lives in Oslo. | The user's sister lives in Oslo.
    fact | My sister's name is Nora. | The user's sister's name is Nora.
    fact | My wife's sister is a judge. | The user's wife's sister is a judge.
    fact | My parents are divorced. | The user's parents are divorced.
    fact | My father died in 2019. | The user's father died in 2019.
    fact | My daughter Lotte is six. | The user's daughter Lotte is six.
    fact | My daughter is allergic to cats. | The user's daughter is allergic to cats.
    fact | I have a dog called Biscuit. | The user has a dog called Biscuit.
    fact | I have three cats and a tortoise. | The user has three cats and a tortoise.
    fact | My dog is called Biscuit. | The user's dog is called Biscuit.
    fact | My dog Biscuit is a three-legged terrier. | The user's dog Biscuit is a three-legged terrier.

    fact | I always take my coffee black. | The user always takes their coffee black.
    fact | I never eat breakfast. | The user never eats breakfast.
    fact | I usually get up at six. | The user usually gets up at six.
    fact | I usually fix my own bike. | The user usually fixes their own bike.
    fact | I always try to be on time. | The user always tries to be on time.
    fact | I always do my own taxes. | The user always does their own taxes.
    fact | I usually have eggs for breakfast. | The user usually has eggs for breakfast.
    fact | I always wear a hat when I'm out. | The user always wears a hat when they are out.
    fact | I never learned to swim. | The user never learned to swim.
    fact | I always cook and clean. | The user always cooks and cleans.
    fact | I always put sugar in my tea. | The user always puts sugar in their tea.
    fact | I used to live in Rome. | The user used to live in Rome.
    fact | I play the cello. | The user plays the cello.
    fact | I speak Dutch and French. | The user speaks Dutch and French.
    fact | I use Vim. | The user uses Vim.
    fact | I drive an old Volvo. | The user drives an old Volvo.
    fact | I practise yoga. | The user practises yoga.
    fact | I sing in a choir on Wednesdays. | The user sings in a choir on Wednesdays.
    fact | I keep my keys in the blue bowl. | The user keeps their keys in the blue bowl.
"""

# what was said, the quote after ^ | kind | what is told of it
OPENED = """
    Hi, ^I'm vegan. | fact | The user is vegan.
    Well, ^I live in Ghent! | fact | The user lives in Ghent.
    By the way, ^I'm left-handed. | fact | The user is left-handed.
    FYI ^I'm left-handed… | fact | The user is left-handed.
    Just so you know, ^I'm vegan. | fact | The user is vegan.
    You should know that ^I'm vegan. | fact | The user is vegan.
    Yes, ^I prefer tea. | preference | The user prefers tea.
    No, ^I live in Ghent now. | fact | The user lives in Ghent now.
    Actually ^I prefer tea. | preference | The user prefers tea.
    Please ^call me Jo. | fact | The user's name is Jo.
    You can ^call me Jo. | fact | The user's name is Jo.
    Sorry, ^my name is Ana. | fact | The user's name is Ana.
"""

# what was said, the quote after ^ | what is told of it
CORRECTED = """
    Actually, ^I live in Ghent, not Antwerp. | The user lives in Ghent, not Antwerp.
    No, ^my name is Ana, not Anna. | The user's name is Ana, not Anna.
    Actually, ^my birthday is 4 May, not 3 May. | The user's birthday is 4 May, not 3 May.
    Actually ^I don't have a dog. | The user doesn't have a dog.
    Actually, ^I'm not a vegetarian. | The user is not a vegetarian.
    Actually, ^my sister doesn't live in Oslo any more. | The user's sister doesn't live in Oslo any more.
    Actually ^I don't like tea, I like coffee. | The user doesn't like tea, they like coffee.
"""

# as OPENED
ASKED = """
    Remember that ^my sister's birthday is 3 May. | fact | The user's sister's birthday is 3 May.
    Please remember that ^I am allergic to nuts. | fact | The user is allergic to nuts.
    remember that ^i hate coriander | preference | The user hates coriander.
    Remember: ^the spare key is with Mrs Low. | fact | The spare key is with Mrs Low.
    Remember, ^I'm allergic to nuts. | fact | The user is allergic to nuts.
    Remember ^I'm vegan. | fact | The user is vegan.
    Please remember this: ^I take my tea black. | fact | The user takes their tea black.
    Remember that ^I'd rather have tea. | preference | The user would rather have tea.
    Remember that ^I'll be in Oslo in July 2027. | fact | The user will be in Oslo in July 2027.
    Remember that ^the code for the door is 4711. | fact | The code for the door is 4711.
    Please note that ^I'm away in July. | fact | The user is away in July.
    Note: ^the wifi password is on the fridge | fact | The wifi password is on the fridge.
    Don't forget that ^I hate coriander. | preference | The user hates coriander.
    Keep in mind that ^I can't eat gluten. | fact | The user can't eat gluten.
    Save this: ^my blood group is O negative. | fact | The user's blood group is O negative.
    Can you please remember that ^my name is Ada. | fact | The user's name is Ada.
"""

COMPOUND = [
    ("I really like jazz, but I hate opera.", ["The user really likes jazz.", "The user hates opera."]),
    ("I like tea and I hate coffee.", ["The user likes tea.", "The user hates coffee."]),
    ("Hi, I'm Ada and I live in Ghent.", ["The user is Ada.", "The user lives in Ghent."]),
    (
        "Hello! I'm Jonna, I work as a nurse and my husband is called Tomas.",
        ["The user is Jonna.", "The user works as a nurse.", "The user's husband is called Tomas."],
    ),
    ("I play guitar, and my brother plays drums.", ["The user plays guitar.", "The user's brother plays drums."]),
    ("I study medicine; my brother studies law.", ["The user studies medicine.", "The user's brother studies law."]),
    ("My daughter is six and my son is four.", ["The user's daughter is six.", "The user's son is four."]),
    ("I am vegan. I live in Ghent.\nI sail!", ["The user is vegan.", "The user lives in Ghent."]),
    ("I’m allergic to nuts and I don’t eat fish.", ["The user is allergic to nuts.", "The user doesn't eat fish."]),
    ("I'm a vegetarian, so I don't eat fish.", ["The user is a vegetarian, so they don't eat fish."]),
    ("What is the capital of Peru? I live in Ghent.", ["The user lives in Ghent."]),
    ("I live in Ghent. Where can I swim there?", ["The user lives in Ghent."]),
    ("I'm vegan, thanks!", ["The user is vegan."]),
    ("I'm allergic to nuts, so please avoid them.", ["The user is allergic to nuts."]),
    ("I love my wife and my kids.", ["The user loves their wife and their kids."]),
    ("I am 42. Tell me a joke.", ["The user is 42."]),
    ("Hi, I'm Ada.\n\nTranslate this:\nI live in Rome. I have a dog.", ["The user is Ada."]),
    ("```\nI am vegan\n```\nI live in Ghent.", ["The user lives in Ghent."]),
]  # fmt: skip

TRAPS = {
    "questions": """
        Do I live in Ghent?
        Am I allergic to nuts?
        What is my name?
        Is my dog called Biscuit?
        I live in Ghent, right?
        I am allergic to nuts, am I not?
        What do I like?
        Do you remember my name?
        Remember when we talked about Japan?
        Remember me?
        Where I live is none of your business.
    """,
    "hypotheticals": """
        If I live in Ghent, do I pay city tax?
        If I had a dog, I'd call it Rex.
        Suppose I live in Ghent.
        Imagine I am a vegetarian.
        Let's say I live in Paris.
        Say I have two children.
        Assume I have a dog.
        Pretend that my name is Bob.
        I wish I had a dog.
        I could live in Paris.
        I would live in Paris if I could.
        I might move to Spain.
        I think I'm allergic to kiwi.
        Maybe I am allergic.
        When I am in Paris, I eat snails.
    """,
    "requests": """
        I'd like a recipe for ramen.
        I want you to fix this.
        I need help with my code.
        I have a question.
        I have a question about tax.
        I have one question.
        I'd love a summary.
        I'd prefer a table here.
        I would like a cup of tea.
        I'm looking for a hotel.
        Remember to buy milk.
        Don't forget to add tests.
        Save it.
        Can you remember my name?
    """,
    "what passes": """
        I'm tired.
        I'm a bit tired.
        I'm a little confused.
        I'm fine.
        I'm hungry.
        I'm stuck.
        I'm at work.
        I'm in a hurry.
        I'm 5 minutes late.
        I have a headache.
        I have a meeting tomorrow at nine.
        I have no idea.
        My laptop is slow today.
        I use Vim right now.
        I work on this tonight.
    """,
    "the words of others": """
        She said I am lazy.
        My sister says, "I live in Oslo."
        My friend told me: I love cats.
        "I am a vegetarian," she said.
        Write a sentence with "I live in Paris".
        Translate "I love you" into French.
        How do you say I love you in French?
        Write a story: I am Ada, a pirate.
        Translate: I live in Paris
        Sara wrote: I live in Oslo.
    """,
    "this very talk": """
        I like your answer.
        I love it!
        I love that.
        I love this.
        I like the second option.
        I prefer the first version.
        I love these suggestions.
        I like what you did there.
        I don't like it.
        I don't like this answer.
        I hate this error.
        I love you.
        I use this a lot.
    """,
    "thanks and manners": """
        Thanks!
        Thank you, I appreciate it.
        Great, thanks a lot.
        Good morning!
        I'm sorry.
        I'm not sure.
        I hate to ask, but can you do that again?
        I'd rather not say.
        My bad.
    """,
    "code and tasks": """
        My code is broken.
        My test fails.
        I'm getting an error.
        I'm trying to install Docker.
        I'm working on a report.
        I have an error in line 3.
        I run into this error all the time.
        I run out of memory.
        My question is how to sort.
    """,
}

# What has the very shape of a statement, and is none.
MISTAKEN = {
    "hypotheticals": """
        Hypothetically, I live on Mars.
        Assume I live in Ghent and I have two kids.
        Pretend I am a doctor and my name is Bob.
        Let's say I live in Paris and I have a dog.
        I dream that I live in Rome and I own a boat.
    """,
    "requests": """
        I have two questions.
        I have one more question.
        I have a new question for you.
        I have a small request.
        I have a paragraph I want you to check.
        Call me later.
        Call me back.
        Call me when you are done.
        Remember that.
        Remember this.
        Remember this conversation.
        Remember the last answer.
        Remember the milk.
        Save this file.
        Save the file as x.py.
        Please save my essay as a PDF.
        Don't forget the imports.
        Note the difference.
    """,
    "what passes": """
        I have a cold.
        I have a fever.
        I have a lot to do.
        I have no time.
        I have five minutes.
        I have an exam tomorrow.
        I have a train to catch in ten minutes.
        I'm an hour late.
        I'm a minute late.
        I'm Sorry.
        I'm Done.
        I'm Back!
        My flight is delayed.
        My phone is charging.
        My battery is dead.
        My coffee is cold.
        My homework is due tomorrow.
        I come from a meeting.
        I live here.
    """,
    "the words of others": """
        Translate this:\\nI live in Paris.
        Translate into French: I am a doctor and I live in Lyon.
        Write a poem: I am a tree and I live in a wood.
        My friend told me: I love cats and I hate dogs.
        She said I am lazy and I live in a dump.
        'I am rich and I live in Rome,' he said.
        > I am vegan and I live in Rome
        ```\\nI am vegan\\n```
        “I live in Rome. I have a dog,” he said.
        I live in Paris. I have two dogs.\\nTranslate the text above.
        Which of these is right?\\nI have a dog.\\nI own a dog.
        Summarise:\\n\\nI am a nurse and I live in Ghent.
        He said: I live in Paris. I love cats.
        In my story I am a pirate and I live on a boat.
        My character is a wizard and I live in a tower.
    """,
    "this very talk": """
        I like both options.
        I like option B.
        I prefer option A.
        I prefer the shorter version.
        I love the new version.
        I like how this reads.
        I love everything about this answer.
        I'm a fan of your work.
        I'm fond of it.
        I'm into it.
        I'd rather you didn't do that.
        I'd rather use a loop here.
        I'd rather have it in Python.
        I read your answer.
        I take your point.
        I take that as a yes.
        I never said that.
        I never got your answer.
        I'm learning a lot from you.
        My favourite is the second one.
        My previous question was about tax.
        My last message was cut off.
    """,
    "thanks and manners": """
        I hate to bother you.
        No, I don't think so.
        No, I don't know.
        Sorry, I don't understand.
        Actually, I'm not sure.
        No, I can't.
        Sorry, I'm not done.
        I have no clue.
        I have no doubt.
    """,
    "code and tasks": """
        My tests are failing.
        My build is broken.
        My function is slow.
        My script has a bug.
        My regex is not matching.
        My app is crashing.
        My goal is to sort the list.
        My input is a list of numbers.
        I have a Python script that crashes.
        I have a function that returns None.
        I have a file called data.csv.
        I have two files to merge.
        I have a weird bug.
        I always get this error.
        I usually get a 404 here.
        I keep getting an error.
        I run the tests and they fail.
        I use a for loop here and it fails.
        I use pandas 2.0 and get a KeyError.
        I work around it with a loop.
        I moved to line 5.
        My phone died.
        I quit the app.
        I stopped the build.
        I'm writing a function that sorts.
        I'm writing an email to my boss.
        I'm building a regex for emails.
        I'm working in VS Code.
        Note that the function returns None.
        Keep in mind that the list may be empty.
        Actually, the code does not work.
        No, it's not working.
        Sorry, my code isn't complete.
    """,
}

# What is hard to tell in the third person. Either is sound: the sentence below, or nothing.
MISTOLD = {
    "a second verb": """
        I run every morning and swim on Sundays. | The user runs every morning and swims on Sundays.
        I like tea and hate coffee. | The user likes tea and hates coffee.
        I live in Ghent and work in Brussels. | The user lives in Ghent and works in Brussels.
        I live where I was born. | The user lives where they were born.
        I never said I was vegan. | The user never said they were vegan.
    """,
    "a verb in the past": """
        I never drank alcohol. | The user never drank alcohol.
        I never drew. | The user never drew.
        I never learnt to swim. | The user never learnt to swim.
        I never understood algebra. | The user never understood algebra.
        I always dreamt of a boat. | The user always dreamt of a boat.
        I never bit my nails. | The user never bit their nails.
    """,
    "no longer": """
        Correction: I no longer work at Tidewright. | The user no longer works at Tidewright.
        Actually, I no longer eat meat. | The user no longer eats meat.
    """,
    "capitals": """
        I LIVE IN GHENT | The user LIVES IN GHENT.
        REMEMBER THAT I HATE CORIANDER | The user HATES CORIANDER.
    """,
    "whose it is": """
        My flatmate always takes my milk. | The user's flatmate always takes the user's milk.
        My wife's sister is my boss. | The user's wife's sister is the user's boss.
        My brother hates my cooking. | The user's brother hates the user's cooking.
        My mother teaches me French. | The user's mother teaches the user French.
        My doctor says I have high blood pressure. | The user's doctor says the user has high blood pressure.
        I live with my wife and our dog. | The user lives with their wife and their dog.
        I have a sister who loves my cooking. | The user has a sister who loves the user's cooking.
        My brother and I hate each other. | The user and the user's brother hate each other.
        Remember that our dog is called Biscuit. | The user's dog is called Biscuit.
        Remember that we have two dogs. | The user has two dogs.
        Remember that you should answer in Dutch. | The assistant should answer in Dutch.
    """,
    "what it is": """
        Actually, it's Ana, not Anna. | The user's name is Ana, not Anna.
        Actually, we moved to Ghent instead. | The user moved to Ghent instead.
    """,
    "a full stop that ends no sentence": """
        I work for Dr. Peeters. | The user works for Dr. Peeters.
        I am Dr. Ada Lovelace. | The user is Dr. Ada Lovelace.
        I live at 12 St. James Street. | The user lives at 12 St. James Street.
        I was born on 3. May 1980. | The user was born on 3. May 1980.
    """,
    "a line that ends in the middle": """
        I live in\\n\\nGhent | The user lives in Ghent.
    """,
}

SPOKEN = st.lists(
    st.sampled_from(
        "i I i'm I’m I've my me mine myself am was have live like love prefer hate work in Ghent at and but a dog tea "
        'called allergic to nuts 42 always never actually remember that: no not would rather , ; . ! ? … \n \n\n “ ” " '
        "( ) é 日本 😀 —".split(" ")
    ),
    max_size=14,
).map(" ".join)
MESSAGES = st.one_of(st.text(st.characters(exclude_categories=()), max_size=80), SPOKEN)


def rows(table: str) -> list[list[str]]:
    """The rows of a table above, its columns parted by |, with \\n for a line end."""
    lines = [line.strip() for line in table.strip().splitlines() if line.strip()]
    return [[cell.strip().replace("\\n", "\n") for cell in line.split(" | ")] for line in lines]


def marked(said: str) -> str:
    """The quote in a row: what follows the ^, without the end of the sentence."""
    return said.partition("^")[2].rstrip(".!…")


def sayings(tables: dict[str, str]) -> list[tuple[str, str]]:
    """Each row of each table with the table's name."""
    return [(name, row[0]) for name, table in tables.items() for row in rows(table)]


@pytest.fixture(autouse=True)
def home() -> None:
    """Nothing: what is tested here is pure and quick, and needs no home of its own."""


# --- what is told ---------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "said", "told"), rows(TOLD))
def test_what_is_stated_is_told_in_the_third_person(kind: str, said: str, told: str) -> None:
    assert statements(said) == [Statement(kind, told, said.rstrip("."))]


@pytest.mark.parametrize(("said", "kind", "told"), rows(OPENED))
def test_words_that_only_open_a_sentence_are_left_out(said: str, kind: str, told: str) -> None:
    assert statements(said.replace("^", "")) == [Statement(kind, told, marked(said))]


@pytest.mark.parametrize(("said", "told"), rows(CORRECTED))
def test_what_sets_something_right_is_a_correction(said: str, told: str) -> None:
    assert statements(said.replace("^", "")) == [Statement("correction", told, marked(said))]


@pytest.mark.parametrize(("said", "kind", "told"), rows(ASKED))
def test_what_is_asked_to_be_remembered_is_told_as_it_is(said: str, kind: str, told: str) -> None:
    assert statements(said.replace("^", "")) == [Statement(kind, told, marked(said))]


@pytest.mark.parametrize(
    "said", ["Can you remember that I take my tea black?", "Could you please note that I'm vegan?"]
)
def test_a_polite_request_to_remember_is_one(said: str) -> None:
    assert len(statements(said)) == 1


@pytest.mark.parametrize(("said", "told"), COMPOUND)
def test_each_clause_of_a_sentence_is_told_alone(said: str, told: list[str]) -> None:
    assert [statement.text for statement in statements(said)] == told


@pytest.mark.parametrize(("kind", "said", "told"), [row for row in rows(TOLD) if "'" in row[1]])
def test_a_curly_apostrophe_says_the_same_as_a_straight_one(kind: str, said: str, told: str) -> None:
    assert statements(said.replace("'", "’")) == statements(said)


@pytest.mark.parametrize("end", ["", "!", "!!!", "…", "\n", "  "])
def test_how_a_sentence_ends_does_not_matter(end: str) -> None:
    assert statements(f"I live in Ghent{end}") == [Statement("fact", "The user lives in Ghent.", "I live in Ghent")]


def test_a_quote_ends_with_a_word() -> None:
    assert [statement.quote for statement in statements("I live in Ghent …")] == ["I live in Ghent"]


@pytest.mark.parametrize(
    ("clause", "told"),
    [
        ("I am", "The user is."),
        ("I do", "The user does."),
        ("I go", "The user goes."),
        ("I catch", "The user catches."),
        ("I carry", "The user carries."),
        ("I play", "The user plays."),
        ("I must", "The user must."),
        ("I can't swim", "The user can't swim."),
        ("I've been", "The user has been."),
        ("I'll go", "The user will go."),
    ],
)
def test_the_first_verb_agrees_with_the_user(clause: str, told: str) -> None:
    assert third_person(clause) == told


# --- what states nothing --------------------------------------------------------------------------


@pytest.mark.parametrize(("of", "said"), sayings(TRAPS))
def test_what_states_nothing_about_its_speaker_is_left_alone(of: str, said: str) -> None:
    assert statements(said) == []


@pytest.mark.parametrize(("of", "said"), sayings(MISTAKEN))
def test_what_only_looks_like_a_statement_is_left_alone(of: str, said: str) -> None:
    assert statements(said) == []


@pytest.mark.parametrize(("said", "told"), [row for table in MISTOLD.values() for row in rows(table)])
def test_what_is_hard_to_tell_is_told_rightly_or_not_at_all(said: str, told: str) -> None:
    assert [statement.text for statement in statements(said)] in ([], [told])


# --- laws -----------------------------------------------------------------------------------------


@given(MESSAGES)
@example("")
@example("I")
@example("my")
@example("I am")
@example("Remember: '")
def test_no_message_raises_and_every_quote_stands_in_it(message: str) -> None:
    straight = message.replace("’", "'")

    for statement in statements(message):
        assert statement.kind in KINDS
        assert statement.quote in straight
        assert statement.text.endswith(".")


@given(SPOKEN)
@example("remember that .")
@example("note this … !")
def test_whatever_is_told_says_something_and_never_speaks_as_the_user(message: str) -> None:
    for statement in statements(message):
        assert any(c.isalnum() for c in statement.text)
        assert any(c.isalnum() for c in statement.quote)
        assert not re.search(r"\b(?:I|i|I'm|i'm|me|my|mine|myself)\b", statement.text)


@given(SPOKEN)
def test_what_is_told_stands_in_the_order_of_the_message(message: str) -> None:
    straight, at = message.replace("’", "'"), 0

    for statement in statements(message):
        at = straight.index(statement.quote, at) + len(statement.quote)


# --- time -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "piece", "after"),
    [
        ("I live in", " ", "Ghent"),
        ("I'm A", "a", " x"),
        ("", "I like tea and ", "milk"),
        ("well, ", "well, ", "I am vegan"),
        ("I like ", "tea ", "."),
        ("my ", "a ", "dog is old"),
        ("I ", "really ", "like tea"),
        ("", '"', ""),
        (".", ")", ""),
    ],
    ids=["blanks", "one word", "clauses", "openings", "words", "possessives", "adverbs", "quotes", "brackets"],
)
def test_time_grows_with_the_message_and_no_faster(before: str, piece: str, after: str) -> None:
    def seconds(count: int) -> float:
        message, took = before + piece * count + after, []
        for _ in range(3):
            start = time.process_time()
            statements(message)
            took.append(time.process_time() - start)
        return min(took)

    assert seconds(4_000) / seconds(400) < 10 * 3
