/** Keys that data classes, pydantic's models and typed dictionaries declare. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keysIn, keysOf } from "./support.ts";

describe("keys of a class", () => {
  it("are those of its bases too, of other files, and the first of them wins", () => {
    const keys = keysOf({
      "made/config.py": `
from .parts import Optim as Below
from made import more as rest

@dataclass
class Root(Below, rest.Logging):
    seed: int = 7
`,
      "made/parts.py": `
@dataclass
class Optim:
    lr: float = 1e-6
    seed: int = 1
    name: str = "adam"
`,
      "made/more.py": `
@dataclass
class Logging:
    name: str = "run"
    every: Optional[int] = None
`,
    });
    assert.deepEqual(keys, {
      name: { type: "str", default: "adam" },
      every: { type: "int?", default: null },
      lr: { type: "float", default: 1e-6 },
      seed: { type: "int", default: 7 },
    });
  });

  it("have those of a field's class below them, however it is written", () => {
    const keys = keysIn(`
class Inner(BaseModel):
    size: int = 1

class Root(BaseModel):
    plain: Inner = Inner(size=4)
    optional: Optional[Inner] = None
    either: "Inner | None" = None
    noted: Annotated[Inner, Field(description="what it is")]
    several: list[Inner] = []
    named: dict[str, Inner] = {}
`);
    assert.deepEqual(
      ["plain", "optional", "either", "noted"].map((key) => keys[`${key}.size`]?.default),
      [4, 1, 1, 1],
    );
    assert.deepEqual(keys["optional"], { type: "dict?", default: null });
    assert.equal(keys["noted"]?.help, "what it is");
    assert.deepEqual(keys["several"], { type: "list", default: [] });
    assert.deepEqual(keys["named"], { type: "dict", default: {}, open: true });
    assert.deepEqual(
      Object.keys(keys).filter((key) => /^(several|named)\./.test(key)),
      [],
    );
  });

  it("are those of any class of a union", () => {
    const keys = keysIn(`
class Off(TypedDict):
    enabled: Literal[False]

class Adam(TypedDict):
    enabled: Literal[True]
    kind: Literal["adam"]
    lr: float

class Sgd(TypedDict):
    kind: Literal["sgd"]
    lr: int

Optim: TypeAlias = Annotated[Adam | Sgd, Field(discriminator="kind")]

class Root(TypedDict):
    optim: NotRequired[Optim | Off]
`);
    assert.deepEqual(keys["optim.kind"], { type: "str", choices: ["adam", "sgd"] });
    assert.deepEqual(keys["optim.lr"], { type: "float" });
    assert.deepEqual(keys["optim.enabled"], { type: "bool" });
  });

  it("know types and choices", () => {
    const keys = keysIn(`
class Kind(str, Enum):
    SOFT = "soft"
    HARD = "hard"

@dataclass
class Root:
    kind: Kind = Kind.HARD
    mode: Literal["a", "b", None] = None
    free: Literal["auto"] | int = "auto"
    sizes: List[int] = field(default_factory=lambda: [1, 2])
    where: Path | None = None
    level: str = field(default="x", metadata={"help": "How much.", "choices": ["x", "y"]})
    hook: Callable[[int], str] = print
    weights: list[float] = None
`);
    assert.deepEqual(keys["kind"], { type: "str", default: "hard", choices: ["soft", "hard"] });
    assert.deepEqual(keys["mode"], { type: "str?", default: null, choices: ["a", "b"] });
    assert.deepEqual(keys["free"], { type: "any", default: "auto" });
    assert.deepEqual(keys["sizes"], { type: "list", default: [1, 2], of: "int" });
    assert.deepEqual(keys["where"], { type: "str?", default: null });
    assert.deepEqual(keys["level"], { type: "str", default: "x", choices: ["x", "y"], help: "How much." });
    assert.deepEqual(keys["hook"], { type: "any", open: true });
    assert.deepEqual(keys["weights"], { type: "list?", default: null, of: "float" });
  });

  it("have the names that an alias gives, and the help that stands below or above them", () => {
    const keys = keysIn(`
class Root(BaseModel):
    """All of it.

    Args:
        told (Optional[str]): Says who,
            and when.
    """
    gpus: int = Field(1, ge=0, validation_alias=AliasChoices("gpus", "num_gpus"))
    """How many."""
    kind: str | None = Field(default=None, alias="class", json_schema_extra={"description": "Which."})
    told: Optional[str] = None
`);
    assert.deepEqual(keys["num_gpus"], { type: "int", default: 1, help: "How many." });
    assert.deepEqual(keys["class"], keys["kind"]);
    assert.equal(keys["kind"]?.help, "Which.");
    assert.equal(keys["told"]?.help, "Says who, and when.");
  });

  it("are not what no configuration sets", () => {
    const keys = keysIn(`
@dataclass
class Root:
    count: ClassVar[int] = 0
    _own: int = 1
    made: int = field(init=False)
    left = 3
    kept: int = 2

    def method(self):
        inside: int = 1
`);
    assert.deepEqual(Object.keys(keys), ["kept"]);
  });

  it("are not all where a model allows others", () => {
    const keys = keysIn(`
class Open(BaseModel):
    model_config = ConfigDict(extra="allow")
    known: int = 1

class Closed(Open):
    model_config = {"extra": "forbid"}

class Section(TypedDict):
    size: int

class Root(BaseModel, extra="allow"):
    open: Open
    closed: Closed
    section: Section
    anything: Any = None
`);
    assert.deepEqual(keys[""], { type: "dict", open: true });
    assert.deepEqual(keys["open"], { type: "dict", open: true });
    assert.equal(keys["open.known"]?.default, 1);
    assert.deepEqual(keys["closed"], { type: "dict" });
    // A dictionary takes what the model around it takes.
    assert.deepEqual(keys["section"], { type: "dict", open: true });
    assert.equal(keys["anything"]?.open, true);
  });

  it("end where a class holds itself", () => {
    const keys = keysIn(`
@dataclass
class Root:
    name: str = "a"
    next: "Root | None" = None
`);
    assert.deepEqual(keys, {
      name: { type: "str", default: "a" },
      next: { type: "dict?", default: null, open: true },
    });
  });

  it("of a field that is declared again are the later class's alone", () => {
    const keys = keysIn(`
@dataclass
class Old:
    size: int = 1

@dataclass
class Base:
    part: Old = field(default_factory=Old)

@dataclass
class Root(Base):
    part: str = "none"
`);
    assert.deepEqual(keys, { part: { type: "str", default: "none" } });
  });
});

describe("a specification", () => {
  it("adds what annotations do not name", () => {
    const files = {
      "made/config.py": `
class Shared(TypedDict):
    size: int
class Engine(Shared):
    speed: float
class Root(BaseModel):
    engine: Shared
    env: str = ""
    fsdp: Shared
`,
    };
    const keys = keysOf(files, {
      classes: ["made.config:Root"],
      also: { engine: ["made.config:Engine"] },
      open: ["env"],
      spelled: { fsdp: "fsdp_" },
      known: { extra: { type: "int" } },
    });
    assert.deepEqual(Object.keys(keys).toSorted(), [
      ...["engine", "engine.size", "engine.speed", "env", "extra"],
      ...["fsdp", "fsdp.fsdp_size", "fsdp.size"],
    ]);
    assert.equal(keys["env"]?.open, true);
  });
});
