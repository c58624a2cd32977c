/** The rows that a training script builds: its own statements make them, without a model, a network or the package `datasets`. */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { describe, it } from "node:test";
import { readTrlScript } from "../../../server/frameworks/readers/trl/trlScript.ts";
import { scriptRows } from "../../../server/frameworks/use/rows/scriptRows.ts";
import { readNotebook } from "../../../server/lib/notebook/notebook.ts";
import { notebook } from "../../support/notebooks.ts";
import { withoutPython } from "../../support/pythonReward.ts";
import { temporary } from "../support.ts";

process.env["GRADUS_PYTHON_ROWS_HOST"] = resolve("server/frameworks/use/rows/rowsHost.py");

const head = `from datasets import Dataset, load_dataset
from transformers import AutoModelForCausalLM, AutoTokenizer
from trl import GRPOConfig, GRPOTrainer
`;
const trained = (rows: string): string =>
  `\nGRPOTrainer(model="a/b", reward_funcs=right, args=GRPOConfig(output_dir="o"), train_dataset=${rows}).train()\n`;

/** The rows of a script, or why there are none. */
async function made(text: string, files: Readonly<Record<string, string>> = {}, name = "train.py") {
  const folder = temporary();
  const file = join(folder, name);
  for (const [path, content] of Object.entries({ ...files, [name]: text }))
    writeFileSync(join(folder, path), content);
  const module = name.endsWith(".ipynb") ? readNotebook(file, text) : text;
  const { rowsBuilder } = readTrlScript(file, module, "grpo");
  assert.ok(rowsBuilder !== undefined, "the script makes no rows");
  const found = await scriptRows(rowsBuilder);
  if (found.kind === "none") return { rows: [], why: found.why, notes: [] };
  const lines = readFileSync(found.file, "utf8").trim().split("\n");
  const rows = lines.map((line): Record<string, unknown> => JSON.parse(line));
  return { rows, why: undefined, notes: found.notes };
}

const data = [1, 2, 3, 4]
  .map((n) => `{"q": "${n} + ${n}", "a": "#### ${2 * n}", "hard": ${n > 2}}\n`)
  .join("");

describe("rows that a script makes", { skip: withoutPython }, () => {
  it("are those of its helpers, constants and modules, in the function that trains", async () => {
    const { rows, why } = await made(
      `import json, torch
${head}from words import SYSTEM
EXTRA = {"level": 1}

def read(path):
    for line in open(path):
        yield json.loads(line)

def asked(row, level):
    return {"prompt": [{"role": "system", "content": SYSTEM}, {"role": "user", "content": row["q"]}], "gold": row["a"].split("#### ")[1], "level": level}

def main(path, limit=2, *, seed=None):
    model = AutoModelForCausalLM.from_pretrained("a/b").to("cuda")
    print(model)
    data = Dataset.from_generator(read, gen_kwargs={"path": path})
    data = data.filter(lambda row: not row["hard"]).map(asked, fn_kwargs=EXTRA, remove_columns=["q", "a", "hard"])
    data.push_to_hub("me/mine")
    ${trained("data").trim()}

if __name__ == "__main__":
    main("rows.jsonl")
`,
      { "rows.jsonl": data, "words.py": 'SYSTEM = "Be brief."\n' },
    );
    assert.equal(why, undefined);
    assert.deepEqual(
      rows.map(({ gold, level, hard }) => [gold, level, hard]),
      [
        ["2", 1, undefined],
        ["4", 1, undefined],
      ],
    );
    assert.deepEqual(rows[0]?.["prompt"], [
      { role: "system", content: "Be brief." },
      { role: "user", content: "1 + 1" },
    ]);
  });

  it("may be made of nothing but code, in a loop, and no more than 64 are", async () => {
    const { rows } = await made(
      `${head}import random
random.seed(3)
rows = []
for n in range(100):
    print(n)
    rows.append({"prompt": f"{n}?", "answer": n})
random.shuffle(rows)
parts = Dataset.from_list(rows).train_test_split(test_size=10)
${trained('parts["train"]')}`,
    );
    assert.equal(rows.length, 64);
    assert.notDeepEqual(rows[0], { prompt: "0?", answer: 0 });
  });

  it("are written by the tokenizer's template, and not fewer where that is not here", async () => {
    const { rows, notes } = await made(
      `from unsloth import FastLanguageModel
${head}model, tokenizer = FastLanguageModel.from_pretrained(model_name="none/such", load_in_4bit=True)
if tokenizer.pad_token is None:
    tokenizer.pad_token = tokenizer.eos_token
data = load_dataset("json", data_files="rows.jsonl", split="train[:3]").rename_column("a", "answer")
data = data.map(lambda x: {"prompt": tokenizer.apply_chat_template([{"role": "user", "content": x["q"]}], tokenize=False)})
data = data.filter(lambda x: len(tokenizer(x["prompt"])["input_ids"]) < 3)
${trained("data")}`,
      { "rows.jsonl": data },
    );
    assert.equal(rows.length, 3);
    assert.equal(rows[0]?.["prompt"], "<|im_start|>user\n1 + 1<|im_end|>\n");
    assert.match(
      notes[0] ?? "",
      /^Rows are tried that may not train: train\.py:10 needs the tokenizer.* left out\.$/,
    );
    assert.match(notes[1] ?? "", /written as ChatML/);
  });

  it("are three of ours where GSM8K is asked for and not on this disk", async () => {
    const { rows, notes } = await made(
      notebook([
        head,
        `def rows(split):
    data = load_dataset("openai/gsm8k", "main")[split]
    return data.map(lambda x: {"prompt": [{"role": "user", "content": x["question"]}], "answer": x["answer"].split("####")[1].strip()})`,
        trained('rows("train")'),
      ]),
      {},
      "train.ipynb",
    );
    assert.deepEqual(
      rows.map(({ answer }) => answer),
      ["29", "3", "10,000"],
    );
    assert.match(
      notes.join("\n"),
      /3 sample rows with the columns of openai\/gsm8k, which is not on this disk/,
    );
  });

  it("are samples with the columns of the data sets that scripts load most, whichever part of them is asked for", async () => {
    const columns: Readonly<Record<string, string>> = {
      "open-r1/DAPO-Math-17k-Processed": "{'prompt': x['prompt'], 'answer': x['solution']}",
      "BytedTsinghua-SIA/DAPO-Math-17k":
        "{'prompt': x['prompt'], 'answer': x['reward_model']['ground_truth']}",
      "AI-MO/NuminaMath-TIR":
        "{'prompt': x['problem'], 'answer': x['solution'].split('boxed{')[1].split('}')[0]}",
      "agentica-org/DeepScaleR-Preview-Dataset": "{'prompt': x['problem'], 'answer': x['answer']}",
      "trl-lib/DeepMath-103K": "{'prompt': x['prompt'], 'answer': x['solution'].strip('$')}",
      "unsloth/OpenMathReasoning-mini": "{'prompt': x['problem'], 'answer': x['expected_answer']}",
    };
    for (const [name, row] of Object.entries(columns)) {
      const { rows, notes, why } = await made(
        `${head}rows, held = load_dataset("${name}", split=["train[:5%]", "train[5%:6%]"])\n${trained(`rows.map(lambda x: ${row})`)}`,
      );
      assert.equal(why, undefined, name);
      assert.deepEqual(
        rows.map(({ answer }) => answer),
        ["29", "3", "10000"],
      );
      assert.match(notes.join("\n"), new RegExp(`columns of ${name}, which`));
    }
  });

  it("need no arguments of the command line, but those that they hang on", async () => {
    const script = (rows: string): string => `${head}import argparse
def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("--urls", nargs="+", required=True)
    parser.add_argument("--count", type=int, default=3)
    return parser.parse_args()
def main():
    args = parse()
    rows = Dataset.from_list([{"prompt": ${rows}} for n in range(args.count)])
${trained("rows").replace("\n", "    ")}
main()
`;
    assert.equal((await made(script("str(n)"))).rows.length, 3);
    assert.equal(
      (await made(script("args.urls[0]"))).why,
      "train.py:12 wants `--urls` of the script's command line",
    );
  });

  it("leave out what has no form as JSON, such as a picture in a column or in a list", async () => {
    const { rows } = await made(
      `${head}picture = object()\nrows = Dataset.from_list([{"prompt": "a", "image": picture, "images": [picture, "b"], "data": {"image": picture, "at": 1}}])\n${trained("rows")}`,
    );
    assert.deepEqual(rows, [{ prompt: "a", images: ["b"], data: { at: 1 } }]);
  });

  it("stay as they were before a condition that hangs on a package that is not here, and say so", async () => {
    const { rows, notes } = await made(
      `${head}from unsloth_zoo.utils import Version
rows = load_dataset("json", data_files="rows.jsonl", split="train").map(lambda x: {"prompt": x["q"]})
if Version("trl") < Version("0.24.0"):
    rows = rows.map(lambda x: {"prompt": tokenizer(x["prompt"])})
${trained("rows")}`,
      { "rows.jsonl": data },
    );
    assert.equal(rows[0]?.["prompt"], "1 + 1");
    assert.match(notes.join("\n"), /train\.py:4 needs `unsloth_zoo\.utils`.*, and was left out/);
  });

  it("are made though strings of the script are no paths that a disk can have", async () => {
    const { rows } = await made(
      `${head}"""${"A text/with a dot. ".repeat(15)}"""\nZERO = "a\\0/b.json"\nrows = load_dataset("json", data_files="rows.jsonl", split="train").map(lambda x: {"prompt": x["q"]})\n${trained("rows")}`,
      { "rows.jsonl": data },
    );
    assert.equal(rows.length, 4);
  });

  it("are none, with the line, where they need a network, a model, other data or a package", async () => {
    const why = async (statements: string): Promise<string | undefined> =>
      (await made(`${head}${statements}\n${trained("rows.map(f)")}`, { "rows.jsonl": data })).why;
    const load = 'rows = load_dataset("json", data_files="rows.jsonl", split="train")\n';
    assert.equal(
      await why(
        'import urllib.request\ndef f(x): return x\nrows = Dataset.from_list([{"prompt": urllib.request.urlopen("http://127.0.0.1:9/").read()}])',
      ),
      "train.py:6 asks the network",
    );
    assert.equal(
      await why(`model = AutoModelForCausalLM.from_pretrained("a/b")\n${load}def f(x): return model(x)`),
      "train.py:4 needs a model",
    );
    assert.equal(
      await why('rows = load_dataset("none/such", split="train")\ndef f(x): return x'),
      "`none/such` is not on this disk (train.py:4)",
    );
    assert.equal(
      await why(`import nosuchpackage as some\n${load}def f(x): return some.made(x)`),
      "train.py:4 needs the package `nosuchpackage`, which is not installed",
    );
    assert.equal(
      await why(`${load}def f(x): return {"prompt": x["question"]}`),
      "train.py:5 threw KeyError: 'question'",
    );
  });
});
