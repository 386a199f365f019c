"""The sum of a column, of which the metadata give no bounds."""

import sqlite3

import numpy as np
from opendp.whitenoise.metadata.collection import CollectionMetadata, Float, Int, Table
from opendp.whitenoise.sql.private_reader import PrivateReader
from opendp.whitenoise.sql.reader.engine import Engine
from opendp.whitenoise.sql.reader.sql_base import SqlReader

import dpaudit

EPSILON, DELTA = 1.0, 1e-3
QUERY = "SELECT SUM(income) AS total FROM city.people"


class Database(SqlReader):
    """A reader of a database in memory, of one row per person."""

    ENGINE = Engine.PANDAS

    def __init__(self, incomes):
        """Fill the database."""
        super().__init__()
        self.connection = sqlite3.connect(":memory:")
        self.connection.execute("CREATE TABLE people (id INTEGER, income REAL)")
        self.connection.executemany("INSERT INTO people VALUES (?, ?)", enumerate(incomes))

    def execute(self, query):
        """Return names of columns, and rows."""
        found = self.connection.execute(query.replace("city.people", "people"))
        return [tuple(column[0] for column in found.description), *found.fetchall()]


class Total(dpaudit.Mechanism):
    """The query of the release."""

    own_randomness = True
    bounds = ()

    def sample(self, data, size, rng):
        """Draw sums."""
        columns = [Int("id", is_key=True), Float("income", *self.bounds)]
        metadata = CollectionMetadata([Table("city", "people", 1000, columns, max_ids=1)], Engine.PANDAS)
        reader = PrivateReader(metadata, Database(data), epsilon=EPSILON, delta=DELTA)
        query = reader.parse_query_string(QUERY)
        rewritten = reader.rewrite_ast(query)
        reader.rewrite_ast = lambda _: rewritten  # the same each time
        return np.array([float(reader.execute_ast(query)[1][0]) for _ in range(size)])

    def neighbours(self):
        """Derive the incomes of three people, and of one more."""
        space = dpaudit.Datasets(dpaudit.Floats(0.0, 100.0), size=4)
        return dpaudit.Neighbouring.within(dpaudit.DerivedPairs(space=space, relation="add-remove"))

    def claims(self):
        """Say what the arguments say."""
        guarantee = dpaudit.ApproximateDP(EPSILON, DELTA)
        return [dpaudit.PrivacyClaim(id="total.privacy", statement="It is private.", guarantee=guarantee)]


class Bounded(Total):
    """The same with the bounds in the metadata."""

    bounds = (0.0, 100.0)


def target():
    """The release."""
    return Total()


def twin():
    """The same, where noise is added."""
    return Bounded()
