/** Tree search over steps: UCB by its definition, and planted trees of which it must find the right leaf. */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { treeSearch } from "../../../../server/methods/rollout/branching/treeSearch.ts";
import { randomStream } from "../../../../server/lib/random.ts";
import type { TreeSearch } from "../../../../server/core/slots/branching.ts";

function searchWith(params: Readonly<Record<string, unknown>>): TreeSearch {
  const made = treeSearch.create(treeSearch.params.parse(params), {
    folder: "",
    random: randomStream(1),
    max_tokens: 64,
    group: 16,
  });
  return made.search!.begin();
}

const random = randomStream(3, "search");
type Place = ReturnType<TreeSearch["next"]>;

describe("tree search", () => {
  it("widens the prompt first, then the state of the highest UCB", () => {
    const search = searchWith({ width: 2, c: 0.7 });
    for (const [index, value] of [0, 1].entries()) {
      assert.equal(search.next(random), undefined);
      search.add({ index, ends: [4, 8, 12], value });
    }
    // Below the prompt: V = 0 and 1 at one visit each. Rollout 1 after its first step has one next step, so it is widened.
    assert.deepEqual(search.next(random), { index: 1, token: 4 });
    search.add({ index: 2, parent: { index: 1, token: 4 }, ends: [4, 9], value: 0 });
    // N = 3; V(0) + c√(2 ln 3 / 1) = 1.038, V(1) + c√(2 ln 3 / 2) = ½ + 0.734 = 1.234.
    const [first, second] = [0.7 * Math.sqrt(2 * Math.log(3)), 0.5 + 0.7 * Math.sqrt(Math.log(3))];
    assert.ok(second > first);
    // Of its two next steps one is the end of rollout 2: the other, rollout 1 after two steps, is gone on from.
    assert.deepEqual(search.next(random), { index: 1, token: 8 });
  });

  it("leaves a branch that was worth nothing for one that has been tried less", () => {
    const search = searchWith({ width: 2, c: 2 });
    search.add({ index: 0, ends: [4, 8, 12], value: 0.2 });
    search.add({ index: 1, ends: [4, 8, 12], value: 0 });
    search.next(random);
    search.add({ index: 2, parent: { index: 0, token: 4 }, ends: [4, 9], value: 0.2 });
    // c = 2: 0 + 2√(2 ln 3) = 2.96 against 0.2 + 2√(ln 3) = 2.30.
    assert.deepEqual(search.next(random), { index: 1, token: 4 });
  });

  it("places rollouts that are written at once apart", () => {
    const search = searchWith({ width: 1, c: 0.7 });
    assert.equal(search.next(random), undefined);
    search.add({ index: 0, ends: [4, 8], value: 1 });
    // The only state below has room for no other step: everything is closed, and the prompt is widened.
    assert.equal(search.next(random), undefined);
    const wide = searchWith({ width: 3, c: 0.7 });
    for (const index of [0, 1, 2]) wide.add({ index, ends: [4, 8], value: 0.5 });
    const places = Array.from({ length: 3 }, () => wide.next(random)?.index).sort();
    assert.deepEqual(places, [0, 1, 2]);
  });

  it("counts a rollout of unknown value as tried, and backs nothing up", () => {
    const search = searchWith({ width: 2, c: 0 });
    search.add({ index: 0, ends: [4, 8, 12], value: Number.NaN });
    search.add({ index: 1, ends: [4, 8, 12], value: 0.1 });
    assert.deepEqual(search.next(random), { index: 1, token: 4 });
  });

  it("puts a rollout that left within a step below the step's beginning", () => {
    const search = searchWith({ width: 2, c: 0 });
    search.add({ index: 0, ends: [4, 8, 12], value: 1 });
    search.add({ index: 1, parent: { index: 0, token: 6 }, ends: [4, 9, 12], value: 0 });
    search.add({ index: 2, ends: [3], value: 0 });
    // The state after token 4 has both next steps; of them rollout 0's is worth more.
    assert.deepEqual(search.next(random), { index: 0, token: 8 });
  });
});

/** A tree of `depth` steps with two ways each: a rollout draws the rest of its way at random. */
class Planted {
  readonly ways: string[] = [];

  constructor(
    private readonly right: string,
    private readonly draws: ReturnType<typeof randomStream>,
  ) {}

  get found(): boolean {
    return this.ways.includes(this.right);
  }

  /** Writes a rollout from a place. @returns the share of its steps that are right, from the first on */
  write(place: Place): number {
    const taken = place === undefined ? "" : this.ways[place.index]!.slice(0, place.token);
    let way = taken;
    while (way.length < this.right.length) way += String(this.draws.integer(2));
    this.ways.push(way);
    const wrong = [...way].findIndex((step, at) => step !== this.right[at]);
    return (wrong < 0 ? way.length : wrong) / way.length;
  }
}

describe("tree search on planted trees", () => {
  const depth = 10;
  const [trees, budget] = [40, 64];
  const rightOf = (seed: number): string =>
    Array.from({ length: depth }, (_, at) => randomStream(seed, "right", at).integer(2)).join("");

  const foundBy = (searches: boolean, parallel = 1): number =>
    Array.from({ length: trees }, (_, seed) => {
      const planted = new Planted(rightOf(seed), randomStream(seed, "draws"));
      const search = searchWith({ width: 3, c: 0.2 });
      while (planted.ways.length < budget) {
        const places = Array.from({ length: parallel }, (_place, k) =>
          searches ? search.next(randomStream(seed, "next", planted.ways.length, k)) : undefined,
        );
        for (const place of places) {
          const index = planted.ways.length;
          const value = planted.write(place);
          const ends = Array.from({ length: depth }, (_end, k) => k + 1);
          search.add({ index, parent: place, ends, value });
        }
      }
      return planted.found;
    }).filter(Boolean).length;

  it("finds the right one of 1,024 leaves far more often than as many plain rollouts", () => {
    const [searched, plain] = [foundBy(true), foundBy(false)];
    assert.ok(plain <= 8, `${plain} of ${trees} by plain rollouts`);
    assert.ok(searched >= 30, `${searched} of ${trees} by search`);
  });

  it("finds it as well when four are written at once", () => {
    const found = foundBy(true, 4);
    assert.ok(found >= 25, `${found} of ${trees}`);
  });
});
