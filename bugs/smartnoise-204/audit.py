"""Counts of people by town, of which those below a threshold are not released."""

import inspect
import sqlite3
import textwrap

import numpy as np
from opendp.whitenoise.metadata.collection import CollectionMetadata, Int, String, Table
from opendp.whitenoise.sql import private_reader
from opendp.whitenoise.sql.private_reader import PrivateReader
from opendp.whitenoise.sql.reader.engine import Engine
from opendp.whitenoise.sql.reader.sql_base import SqlReader

import dpaudit

EPSILON, DELTA = 1.0, 1e-3
QUERY = "SELECT town, COUNT(DISTINCT id) AS people FROM city.people GROUP BY town"
TOWNS = ("Ulm", "Bonn", "Kiel")


class Database(SqlReader):
    """A reader of a database in memory, of one row per person."""

    ENGINE = Engine.PANDAS

    def __init__(self, towns):
        """Fill the database."""
        super().__init__()
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE TABLE people (id INTEGER, town TEXT)")
        self.connection.executemany("INSERT INTO people VALUES (?, ?)", enumerate(towns))

    def execute(self, query):
        """Return names of columns, and rows."""
        found = self.connection.execute(query.replace("city.people", "people"))
        return [tuple(column[0] for column in found.description), *found.fetchall()]


class Counts(dpaudit.Mechanism):
    """The query of the release."""

    own_randomness = True

    def sample(self, data, size, rng):
        """Draw counts in steps of ten; -1 for a town that is not released."""
        columns = [Int("id", is_key=True), String("town", card=len(TOWNS))]
        metadata = CollectionMetadata([Table("city", "people", 1000, columns, max_ids=1)], Engine.PANDAS)
        reader = PrivateReader(metadata, Database(data), epsilon=EPSILON, delta=DELTA)
        query = reader.parse_query_string(QUERY)
        rewritten = reader.rewrite_ast(query)
        reader.rewrite_ast = lambda _: rewritten  # the same each time
        outputs = np.full((size, len(TOWNS)), -1.0)
        for output in outputs:
            for town, people in reader.execute_ast(query)[1:]:
                output[TOWNS.index(town)] = people // 10
        return outputs

    def neighbours(self):
        """Derive the towns of some people, with one more or less."""
        space = dpaudit.Datasets(dpaudit.Choices(TOWNS), longest=20)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="add-remove"))

    def claims(self):
        """Say what the arguments say."""
        guarantee = dpaudit.ApproximateDP(EPSILON, DELTA)
        return [dpaudit.PrivacyClaim(id="counts.privacy", statement="They are private.", guarantee=guarantee)]


def target():
    """The release."""
    return Counts()


def twin():
    """The same with a threshold by the tail of the noise that is added."""
    source = textwrap.dedent(inspect.getsource(PrivateReader._execute_ast))
    old = "max_contrib * (1- ( math.log(2 * self.delta / max_contrib) / self.epsilon  ))"
    new = "1 + Gaussian(self.epsilon, self.delta).sd * NORMAL.inv_cdf(1 - self.delta / 2)"
    mended = source.replace(old, new)
    assert mended != source
    found = {}
    exec(
        compile(f"from statistics import NormalDist\nNORMAL = NormalDist()\n{mended}", "mended", "exec"),
        private_reader.__dict__,
        found,
    )
    private_reader.NORMAL = found["NORMAL"]
    PrivateReader._execute_ast = found["_execute_ast"]
    return Counts()
