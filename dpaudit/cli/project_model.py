"""What the table ``[tool.dpaudit]`` of a ``pyproject.toml`` may hold."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class Settings(BaseModel):
    """Options of `dpaudit check` that a project sets; what it leaves out is left to the plans and to the command."""

    model_config = ConfigDict(
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        alias_generator=lambda name: name.replace("_", "-"),
        title="[tool.dpaudit]",
    )

    targets: Annotated[list[str] | None, Field(description="What is audited where no TARGET is given.")] = None
    claims: Annotated[list[str] | None, Field(description="Claims to keep; all by default.")] = None
    samples: Annotated[int | None, Field(ge=1, description="Samples per input, or runs of a measurement.")] = None
    seconds: Annotated[float | None, Field(gt=0, description="Seconds after which the run stops.")] = None
    confidence: Annotated[float | None, Field(gt=0, lt=1, description="Confidence of every result.")] = None
    method: Annotated[
        Literal["auto", "exact", "likelihood", "black-box"] | None, Field(description="Method of auditing privacy.")
    ] = None
    stop_early: Annotated[bool | None, Field(description="Stop sampling as soon as a claim is refuted.")] = None
    features: Annotated[
        Literal["float-bits"] | None, Field(description="Look at the bit patterns of floating-point outputs too.")
    ] = None
    max_cells: Annotated[int | None, Field(ge=1, description="How many cells are allowed.")] = None
    seed: Annotated[int | None, Field(ge=0, description="Equal seeds give equal records.")] = None
    workers: Annotated[int | None, Field(ge=1, description="Processes; by default one per processor.")] = None
    with_figures: Annotated[bool | None, Field(description="Measure the published figures too.")] = None
    quick: Annotated[bool | None, Field(description="Spend a tenth of the samples.")] = None
    output: Annotated[str | None, Field(description="Folder of the reports.")] = None
