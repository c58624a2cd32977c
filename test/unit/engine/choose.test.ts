import assert from "node:assert/strict";
import { test } from "node:test";
import { openBackend } from "../../../server/engine/devices/backend.ts";
import { Chooser } from "../../../server/engine/generation/chooser.ts";
import { Programs } from "../../../server/engine/passes/programs.ts";
import { Stream } from "../../../server/engine/random.ts";
import { floats, freeAll, type Runtime } from "../../../server/engine/devices/runtime.ts";
import { checkDecodeOptions, filtersOf, penaltiesOf } from "../../../server/engine/generation/sampling.ts";
import { chooseFiltered, type Tally } from "./chooseFiltered.ts";
import { chooseSpec } from "../../../server/engine/transformer/choose.ts";
import { llamaStyle, type Shape } from "../../../server/engine/transformer/weights.ts";
import type { DecodeOptions } from "../../../server/core/policy.ts";

const shapeOf = (vocabulary: number): Shape => ({
  vocabulary,
  width: 8,
  layers: 1,
  heads: 1,
  kv_heads: 1,
  head_width: 8,
  hidden: 8,
  context: 8,
  tied: true,
  rope_theta: 1e4,
  epsilon: 1e-5,
  style: llamaStyle(8),
});

/** Rows of logits, some entries equal to others. */
function logitsOf(rows: number, vocabulary: number, spread: number): Float32Array {
  const random = new Stream("logits", vocabulary);
  const values = Float32Array.from({ length: rows * vocabulary }, () => spread * random.normal());
  for (let i = 7; i < values.length; i += 11) values[i] = values[i - 7]!;
  return values;
}

/** What each lane has so far: some tokens given, some of them and others written, one or several times. */
function talliesOf(rows: number, vocabulary: number): Tally[] {
  const random = new Stream("tallies", vocabulary);
  const draw = (n: number): number[] =>
    Array.from({ length: n }, () => Math.floor((random.next() * vocabulary) / 4));
  return Array.from({ length: rows }, () => {
    const written = draw(vocabulary / 8);
    const counts = new Map<number, number>();
    for (const token of written) counts.set(token, (counts.get(token) ?? 0) + 1);
    return { seen: new Set([...draw(vocabulary / 8), ...written]), counts };
  });
}
/** The same as the programs are fed it. */
function marksOf(runtime: Runtime, tallies: readonly Tally[], vocabulary: number) {
  const upload = (of: (tally: Tally, token: number) => number) =>
    runtime.upload(
      Float32Array.from({ length: tallies.length * vocabulary }, (_, i) =>
        of(tallies[Math.floor(i / vocabulary)]!, i % vocabulary),
      ),
      [tallies.length * vocabulary, 1],
    );
  return {
    seen: upload(({ seen }, token) => (seen.has(token) ? 1 : 0)),
    counts: upload(({ counts }, token) => counts.get(token) ?? 0),
  };
}

/** The program's choice for every row, given as many candidates as the vocabulary has. */
function chosenBy(
  runtime: Runtime,
  decode: DecodeOptions,
  logits: Float32Array,
  vocabulary: number,
  uniform: Float32Array,
  tallies: readonly Tally[],
  adjustment?: Float32Array,
) {
  const chooser = new Chooser(
    new Programs(runtime, { shape: shapeOf(vocabulary), heads: [], adapter: undefined }),
    decode,
  );
  const choosing = { ...chooser.choosing, adjusted: adjustment !== undefined };
  const n = uniform.length;
  const inverse = new Float32Array(n).fill(1 / decode.temperature);
  const feeds = {
    logits: runtime.upload(logits, [n, vocabulary]),
    rows: runtime.upload(Int32Array.from(uniform.keys()), [n]),
    floats: runtime.upload(Float32Array.from([...uniform, ...inverse]), [2, n]),
    ...marksOf(runtime, tallies, vocabulary),
    ...(choosing.top === "mass" ? { candidates: runtime.upload(Int32Array.of(vocabulary), []) } : {}),
    ...(adjustment === undefined
      ? {}
      : {
          adjustment: runtime.upload(new Int32Array(n), [n]),
          table: runtime.upload(adjustment, [1, vocabulary]),
        }),
  };
  const { chosen } = runtime.compile(chooseSpec(vocabulary, choosing)).run({ ...chooser.settings, ...feeds });
  const values = floats(chosen!);
  chosen!.free();
  freeAll(feeds);
  chooser.free();
  return Array.from({ length: n }, (_, lane) => chooser.chosen(values, n, lane));
}

const cases: readonly (readonly [string, Partial<DecodeOptions>, boolean])[] = [
  ["no filter", {}, false],
  ["a low temperature", { temperature: 0.3 }, false],
  ["top-k", { top_k: 5 }, false],
  ["top-k of more than there are", { top_k: 10_000 }, false],
  ["a nucleus", { top_p: 0.8, temperature: 1.3 }, false],
  ["min-p", { min_p: 0.1 }, false],
  ["a nucleus of the top k, then min-p", { top_k: 40, top_p: 0.9, min_p: 0.05, temperature: 0.8 }, false],
  ["an adjustment", { temperature: 0.9 }, true],
  ["a nucleus of adjusted logits", { top_p: 0.7 }, true],
  ["a repetition penalty", { repetition_penalty: 1.4 }, false],
  ["a reward for repetition, adjusted", { repetition_penalty: 0.8, temperature: 0.7 }, true],
  ["presence and frequency penalties", { presence_penalty: 0.9, frequency_penalty: -0.3 }, false],
  [
    "all penalties and filters",
    { repetition_penalty: 1.2, frequency_penalty: 0.5, top_k: 30, top_p: 0.9 },
    true,
  ],
  ["a nucleus of penalised logits", { repetition_penalty: 3, top_p: 0.6 }, false],
];

for (const backend of ["native", "wasm"] as const) {
  for (const vocabulary of [99, 1500]) {
    test(`choosing in the program is choosing row by row: ${backend}, ${vocabulary} tokens`, async () => {
      const { runtime } = await openBackend(backend, 2, 0);
      const n = 24;
      const logits = logitsOf(n, vocabulary, 1.5);
      const random = new Stream("uniform");
      const uniform = Float32Array.from({ length: n }, () => random.next());
      const adjustment = Float32Array.from({ length: vocabulary }, (_, i) =>
        i % 3 === 0 ? -1e9 : (i % 5) - 2,
      );
      const tallies = talliesOf(n, vocabulary);
      const before = runtime.tensors();
      for (const [name, options, adjusted] of cases) {
        const decode = { max_tokens: 1, temperature: 1, seed: 1, ...options };
        const added = adjusted ? adjustment : undefined;
        chosenBy(runtime, decode, logits, vocabulary, uniform, tallies, added).forEach((chosen, row) => {
          const wanted = chooseFiltered(
            logits.subarray(row * vocabulary, (row + 1) * vocabulary),
            filtersOf(decode),
            uniform[row]!,
            added,
            { by: penaltiesOf(decode), tally: tallies[row]! },
          );
          assert.equal(chosen.token, wanted.token, `${name}, row ${row}`);
          for (const field of ["logp", "logpSampled", "entropy"] as const)
            assert.ok(Math.abs(chosen[field] - wanted[field]) < 2e-5, `${name}: ${field} of row ${row}`);
        });
      }
      assert.equal(runtime.tensors(), before);
      runtime.close();
    });
  }
}

for (const penalties of [
  {},
  { repetition_penalty: 1.5, frequency_penalty: 0.1 },
  { perturb: { heads: ["q"], beta: 0.5 } },
]) {
  test(`a nucleus that reaches beyond the sorted candidates is chosen from whole, lane by lane, ${JSON.stringify(penalties)}`, async () => {
    const { runtime } = await openBackend("native", 2, 0);
    const [n, vocabulary] = [16, 6000];
    const logits = logitsOf(n, vocabulary, 0.2);
    // In every other row one token is so likely that the nucleus is small.
    for (let row = 0; row < n; row += 2) logits[row * vocabulary + 40 * row + 3] = 12;
    const decode = { max_tokens: 1, temperature: 1, top_p: 0.9, seed: 1, ...penalties };
    const programs = new Programs(runtime, { shape: shapeOf(vocabulary), heads: [], adapter: undefined });
    const tallies = talliesOf(n, vocabulary);
    const marks = "repetition_penalty" in penalties ? marksOf(runtime, tallies, vocabulary) : {};
    const moved = "perturb" in penalties ? logitsOf(n, vocabulary, 0.3).reverse() : undefined;
    const before = runtime.tensors();
    const chooser = new Chooser(programs, decode);
    const random = new Stream("uniform");
    const uniform = Float32Array.from({ length: n }, () => random.next());
    const lanes = {
      floats: Float32Array.from([...uniform, ...new Float32Array(n).fill(1)]),
      adjustment: new Int32Array(),
      marks,
    };
    const step = (): { chosen: ReturnType<Chooser["chosen"]>[]; short: number } => {
      const feeds = {
        logits: runtime.upload(logits, [n, vocabulary]),
        rows: runtime.upload(Int32Array.from(uniform.keys()), [n]),
        floats: runtime.upload(lanes.floats, [2, n]),
        ...(moved && { perturbation: runtime.upload(moved, [n, vocabulary]) }),
      };
      const program = programs.get("test", () => chooseSpec(vocabulary, chooser.choosing));
      const { chosen } = program.run({ ...chooser.settings, ...marks, ...feeds });
      const short = floats(chosen!)
        .subarray(4 * n)
        .filter((missing) => missing > 0).length;
      const { logits: whole, perturbation, ...others } = feeds;
      const seen = { "0/logits": whole, ...(perturbation && { "0/perturbation": perturbation }) };
      const values = chooser.read({ "0/chosen": chosen!, ...seen }, 0, lanes, undefined);
      freeAll(others);
      return { chosen: Array.from({ length: n }, (_, lane) => chooser.chosen(values, n, lane)), short };
    };
    const wanted = Array.from({ length: n }, (_, row) =>
      chooseFiltered(
        logits.subarray(row * vocabulary, (row + 1) * vocabulary),
        filtersOf(decode),
        uniform[row]!,
        moved?.subarray(row * vocabulary, (row + 1) * vocabulary).map((value) => 0.5 * value),
        { by: penaltiesOf(decode), tally: tallies[row]! },
      ),
    );
    const first = step();
    const second = step();
    // A penalty makes the likely token of some of the others less so.
    assert.ok(first.short >= n / 2 && first.short < n, "lanes need more than the first candidates");
    for (const { chosen } of [first, second])
      chosen.forEach(({ token, logpSampled }, row) => {
        assert.equal(token, wanted[row]!.token);
        assert.ok(Math.abs(logpSampled - wanted[row]!.logpSampled) < 1e-4);
      });
    chooser.free();
    assert.equal(runtime.tensors(), before);
    runtime.close();
  });
}

test("equal logits at the cut are kept in order of their ids, and a cut mass is met exactly", () => {
  const logits = Float32Array.from([0.5, 0.25, 0.125, 0.125], (p) => Math.log2(p) * Math.log(2));
  const choose = (options: Partial<DecodeOptions>, uniform: number): number =>
    chooseFiltered(logits, filtersOf({ max_tokens: 1, temperature: 1, seed: 1, ...options }), uniform).token;
  assert.equal(choose({ top_k: 3 }, 0.999), 2);
  assert.equal(choose({ top_p: 0.75 }, 0.999), 1);
  assert.equal(choose({ top_p: 0.76 }, 0.999), 2);
});

test("options that make no sense are named", () => {
  const decode = { max_tokens: 1, temperature: 1, seed: 1 };
  for (const wrong of [
    { top_k: 1.5 },
    { top_p: 0 },
    { min_p: 2 },
    { temperature: -1 },
    { max_tokens: 0 },
    { lanes: 0 },
  ])
    assert.throws(
      () => checkDecodeOptions({ ...decode, ...wrong }),
      new RegExp(`${Object.keys(wrong)[0]} is`),
    );
  checkDecodeOptions({ ...decode, top_k: 3, top_p: 0.5, min_p: 0.1 });
});
