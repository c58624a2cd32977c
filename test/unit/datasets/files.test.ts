/** Names of data as files: folders, patterns, saved datasets and the Hugging Face cache, as its own packages made them. */
import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { UserError } from "../../../shared/lib/errors.ts";
import { cardConfigs, splitsOfConfig } from "../../../server/lib/datasets/card.ts";
import { datasetFiles } from "../../../server/lib/datasets/files.ts";
import { hubCache } from "../../../server/lib/datasets/hub.ts";
import { datasetStem, hubName } from "../../../server/lib/datasets/name.ts";
import { splitsByName } from "../../../server/lib/datasets/splits.ts";
import { arrowForm } from "../../../server/lib/datasets/arrow.ts";
import { tableRows } from "../../../server/lib/datasets/tables.ts";
import { datasets as fixtures, hub, useHubCache } from "../../support/hubCache.ts";
import { temporary } from "../support.ts";
import { relativePath } from "../../../shared/lib/slashes.ts";

const sums = join("datasets--gradus--sums", "snapshots");
const [main, v1] = ["b28b7af69320201d1cf206ebf28373980add1451", "5a6df720540c20d95d530d3fd6885511223d5d20"];

interface Expected {
  readonly layouts: readonly { readonly files: string[]; readonly splits: Record<string, string[]> }[];
  readonly cards: readonly {
    readonly card: string;
    readonly files: string[];
    readonly configs: Record<string, Record<string, string[]>>;
  }[];
}
const expected = JSON.parse(readFileSync(join(fixtures, "splits.json"), "utf8")) as Expected;

function filled(files: readonly string[]): string {
  const folder = temporary();
  for (const file of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), '{"prompt":"a"}\n');
  }
  return folder;
}

const refusal = (name: string): string => {
  try {
    return datasetFiles(name).join(" ");
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    return `${error.message}. ${error.detail.action ?? ""}`;
  }
};

describe("a folder's splits are those of Hugging Face's datasets", () => {
  for (const { files, splits } of expected.layouts)
    it(files.join(", "), () => {
      const visible = files.filter((file) => !/(^|\/)(\.|__)/.test(file));
      assert.deepEqual(Object.fromEntries(splitsByName(visible.sort())), splits);
    });
  for (const { card, files, configs } of expected.cards)
    it(`with the card of ${Object.keys(configs).join(", ")}`, () => {
      const folder = filled(files);
      writeFileSync(join(folder, "README.md"), card);
      const found = cardConfigs(folder).map(
        (config) => [config.name, Object.fromEntries(splitsOfConfig(config, files))] as const,
      );
      assert.deepEqual(Object.fromEntries(found), configs);
    });
});

describe("a saved dataset", () => {
  it("is its Arrow files, row by row", () => {
    const files = datasetFiles(join(fixtures, "saved"));
    assert.deepEqual(
      files.map((file) => relativePath(fixtures, file)),
      ["saved/data-00000-of-00002.arrow", "saved/data-00001-of-00002.arrow"],
    );
    const rows = files.flatMap((file) => [...tableRows(file)]);
    assert.equal(rows.length, 5);
    assert.deepEqual(rows[1], {
      question: "What is 5 + 4?",
      answer: "9",
      level: 2,
      weight: 1.25,
      tags: ["sum", "odd"],
      meta: { source: "made", digits: [5, 4] },
      prompt: [
        { role: "system", content: "Answer with a number." },
        { role: "user", content: "What is 5 + 4?" },
      ],
    });
  });
  it("is the training split of a DatasetDict, and another by its folder", () => {
    const read = (name: string): unknown[] =>
      datasetFiles(join(fixtures, name)).flatMap((file) => [...tableRows(file)]);
    assert.equal(read("savedDict").length, 5);
    assert.equal(read("savedDict/test").length, 2);
  });
  it("has its form in its head", () => {
    const form = arrowForm(join(fixtures, "saved", "data-00000-of-00002.arrow"));
    const { tags, prompt, ...rest } = form;
    assert.ok(Array.isArray(tags) && tags[0] === "");
    assert.ok(Array.isArray(prompt));
    assert.deepEqual(prompt[0], { role: "", content: "" });
    assert.deepEqual(Object.keys(rest), ["question", "answer", "level", "weight", "meta"]);
  });
  for (const kind of ["stream", "file"])
    it(`has values of every type as JSON: ${kind}`, () => {
      const [first, second] = [...tableRows(join(fixtures, `${kind}.arrow`))];
      assert.deepEqual(first, {
        large: "größer",
        view: "a string of more than twelve bytes",
        label: "x",
        whole: 2 ** 62,
        list: [1, null],
        half: 1.5,
        price: 12.5,
        time: "2024-05-06T07:08:09.000Z",
        day: "2024-05-06T00:00:00.000Z",
        bytes: "ok",
        none: null,
        flag: true,
        map: { k: 1 },
        deep: { a: null, b: [{ c: "d" }] },
      });
      const { view, label, list, ...rest } = second ?? {};
      assert.deepEqual([view, label, list], ["b", "y", []]);
      assert.ok(Object.values(rest).every((value) => value === null));
    });
  it("that is cut short says so", () => {
    const file = join(temporary(), "cut.arrow");
    const bytes = readFileSync(join(fixtures, "saved", "data-00000-of-00002.arrow"));
    for (const length of [0, 4, 100, bytes.length - 200]) {
      writeFileSync(file, bytes.subarray(0, length));
      assert.throws(
        () => [...tableRows(file)],
        (error) => error instanceof UserError && error.detail.code === "dataset-arrow",
        `${length} bytes`,
      );
    }
    assert.throws(() => [...tableRows(`${file}.arrow`)], /no such file/);
  });
});

describe("a pattern, and a folder of files", () => {
  it("names its files in order", () => {
    const folder = filled(["data/train-b.jsonl", "data/train-a.jsonl", "data/test.jsonl"]);
    const found = ["data/train-a.jsonl", "data/train-b.jsonl"].map((file) => join(folder, file));
    assert.deepEqual(datasetFiles(join(folder, "data", "train-*.jsonl")), found);
    assert.deepEqual(datasetFiles(folder), found);
  });
  it("complains of what is not there", () => {
    const folder = filled(["train-00000-of-00003.jsonl", "notes.txt"]);
    assert.match(refusal(folder), /only 1 of the 3 files/);
    assert.match(refusal(join(folder, "dev-*.jsonl")), /no file matches `dev-\*\.jsonl`/);
    assert.match(refusal(filled(["notes.txt"])), /no rows in/);
    assert.match(refusal(filled(["test.jsonl", "dev.jsonl"])), /no split `train`: it has/);
  });
});

describe("the Hugging Face cache", () => {
  useHubCache();
  const found = (name: string): string[] =>
    datasetFiles(`hf://datasets/gradus/sums${name}`).map((file) => relativePath(join(hub, sums), file));
  const train = [0, 1].map((i) => `${main}/main/train-0000${i}-of-00002.parquet`);

  it("has a dataset's training files, of its default configuration", () =>
    assert.deepEqual(found(""), train));
  it("has a file, a folder, a pattern", () => {
    assert.deepEqual(found("/hard/rows.jsonl"), [`${main}/hard/rows.jsonl`]);
    assert.deepEqual(found("/main"), train);
    assert.deepEqual(found("/main/train-*.parquet"), train);
  });
  it("has a split, a configuration, and both", () => {
    assert.deepEqual(found("/test"), [`${main}/main/test-00000-of-00001.parquet`]);
    assert.deepEqual(found("/hard"), [`${main}/hard/rows.jsonl`]);
    assert.deepEqual(found("/main/test"), [`${main}/main/test-00000-of-00001.parquet`]);
  });
  it("has revisions: a branch or tag, a commit, its first letters", () => {
    const old = [`${v1}/train.jsonl`];
    for (const revision of ["v1", v1, v1.slice(0, 8)]) assert.deepEqual(found(`@${revision}`), old);
    assert.deepEqual(found("@v1/test"), [`${v1}/test.jsonl`]);
  });
  it("says what to download, and what is there", () => {
    assert.match(
      refusal("hf://datasets/openai/gsm8k@v2"),
      /`openai\/gsm8k` is not in the Hugging Face cache .*hf download openai\/gsm8k --repo-type dataset --revision v2`/,
    );
    assert.match(
      refusal("hf://datasets/gradus/sums@v2"),
      /not its revision `v2`: it has `main`, `v1`.*hf download gradus\/sums --repo-type dataset --revision v2`/,
    );
    assert.match(
      refusal("hf://datasets/gradus/sums/hard/more.jsonl"),
      /lacks `hard\/more.jsonl` at the revision `main`: it has `README.md`, .*hf download gradus\/sums hard\/more.jsonl --repo-type dataset`/,
    );
    assert.match(refusal("hf://models/gradus/sums"), /names no dataset/);
    assert.match(refusal("hf://datasets/gradus/sums/../../secret.jsonl"), /names no dataset/);
  });
  it("that holds a part of the files says so", () => {
    const copy = temporary();
    cpSync(hub, copy, { recursive: true, verbatimSymlinks: true });
    rmSync(join(copy, sums, train[1] ?? ""));
    process.env["HF_HUB_CACHE"] = copy;
    assert.match(
      refusal("hf://datasets/gradus/sums"),
      /lacks .*hf download gradus\/sums --repo-type dataset`/,
    );
    process.env["HF_HUB_CACHE"] = hub;
  });
  it("lies where huggingface_hub looks", () => {
    const own = process.env;
    const at = (variables: Record<string, string>): string => {
      process.env = { ...variables };
      const place = hubCache();
      process.env = own;
      return place;
    };
    assert.equal(at({ HF_HUB_CACHE: "/a", HF_HOME: "/b" }), "/a");
    assert.equal(at({ HF_HUB_CACHE: "", HF_HOME: "/b" }), join("/b", "hub"));
    assert.equal(at({ XDG_CACHE_HOME: "/c" }), join("/c", "huggingface", "hub"));
    assert.match(at({ HOME: "/home/me" }), /\.cache[\\/]huggingface[\\/]hub$/);
  });
});

describe("a name of data", () => {
  it("is read part by part", () => {
    assert.deepEqual(hubName("hf://datasets/a/b@refs/convert/parquet/c/d.parquet"), {
      repo: "a/b",
      revision: "refs/convert/parquet",
      path: "c/d.parquet",
    });
    assert.equal(hubName("hf://datasets/a/b@refs%2Fpr%2F1").revision, "refs/pr/1");
    assert.equal(hubName("hf://datasets/a/b@~parquet/x").revision, "refs/convert/parquet");
  });
  it("gives its task a name", () => {
    const names = {
      "data/train.jsonl": "train",
      "data/train-*.parquet": "train",
      "data/*.parquet": "data",
      "saved/": "saved",
      "hf://datasets/openai/gsm8k": "gsm8k",
      "hf://datasets/openai/gsm8k@v1.2": "gsm8k",
      "hf://datasets/openai/gsm8k/main/train": "train",
      "hf://datasets/a/b/main/train-*.parquet": "train",
    };
    for (const [name, stem] of Object.entries(names)) assert.equal(datasetStem(name), stem, name);
  });
});
