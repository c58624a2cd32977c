/** Flags that parsers and classes declare. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { keysOf } from "./support.ts";

const flagsIn = (source: string, words: Readonly<Record<string, string>> = {}) =>
  keysOf({ "made/args.py": source }, { flags: [["made.args", words]] });

describe("flags", () => {
  it("keep their dashes", () => {
    assert.deepEqual(
      flagsIn(`
def add(parser):
    parser.add_argument("--rollout-batch-size", "--batch", type=int, default=8, help="Prompts of a step.")
    parser.add_argument("--advantage-estimator", choices=["grpo", "ppo"], default="grpo")
    parser.add_argument("--colocate", action="store_true")
    parser.add_argument("--offload", action=argparse.BooleanOptionalAction)
    parser.add_argument("--stop", type=str, nargs="+", default=None)
    reset_arg(parser, "--clip-grad", type=float, default=1.0)
    parser.set_defaults(rollout_batch_size=16)
`),
      {
        "rollout-batch-size": { type: "int", default: 16, help: "Prompts of a step." },
        batch: { type: "int", default: 8, help: "Prompts of a step." },
        "advantage-estimator": { type: "str", default: "grpo", choices: ["grpo", "ppo"] },
        colocate: { type: "bool", default: false },
        offload: { type: "bool", default: null },
        "no-offload": { type: "bool", default: false },
        stop: { type: "list?", default: null, nargs: "+" },
        "clip-grad": { type: "float", default: 1 },
      },
    );
  });

  it("have the words of variables in them", () => {
    const keys = flagsIn(
      'def add(parser, prefix):\n    parser.add_argument(f"--{prefix}policy", type=str)\n',
      {
        prefix: "router-",
      },
    );
    assert.deepEqual(Object.keys(keys), ["router-policy"]);
  });

  it("are made of the fields of a class, as Megatron-LM does", () => {
    const keys = flagsIn(`
@dataclass
class Optim:
    lr_decay_style: Literal["linear", "cosine"] = "linear"
    bias_dropout_fusion: bool = True
    timers: Any = None
    renamed: int = field(default=3, metadata={"argparse_meta": {"arg_names": ["--other-name"]}})

def add(parser):
    exclude = ["timers"]
    ArgumentGroupFactory(Optim, exclude=exclude).build_group(parser)
`);
    assert.deepEqual(Object.keys(keys).toSorted(), [
      ...["disable-bias-dropout-fusion", "lr-decay-style", "no-bias-dropout-fusion", "other-name"],
    ]);
    assert.deepEqual(keys["lr-decay-style"]?.choices, ["linear", "cosine"]);
  });

  it("are made of the fields of a class, as SGLang does", () => {
    const keys = flagsIn(`
class ServerArgs:
    tp_size: A[int, Arg(help="Ranks of a \\"server\\".", aliases=["--tensor-parallel-size"])] = 1
    internal: A[Optional[str], Arg(no_cli=True)] = None
    quick: A[bool, "Faster."] = True

    @staticmethod
    def add_cli_args(parser):
        add_cli_args_from_dataclass(parser, ServerArgs)
`);
    assert.deepEqual(keys, {
      "tp-size": { type: "int", default: 1, help: 'Ranks of a "server".' },
      "tensor-parallel-size": { type: "int", default: 1, help: 'Ranks of a "server".' },
      quick: { type: "bool", default: true, help: "Faster." },
    });
  });
});
