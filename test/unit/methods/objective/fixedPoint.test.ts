/**
 * Where value regressions come to rest, in tables: a language of four letters and two places, rewards known, every
 * response weighed by how likely the policy writes it. What they learn is compared with backward induction by hand.
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { ilql } from "../../../../server/methods/objective/values/ilql.ts";
import { tokenQ } from "../../../../server/methods/objective/values/tokenQ.ts";
import { turnCritic } from "../../../../server/methods/objective/values/turnCritic.ts";
import type { Channel } from "../../../../server/core/policy.ts";
import type { Combined } from "../../../../server/core/reward.ts";
import type { Objective, ObjectiveInput } from "../../../../server/core/loss.ts";
import { batchOf, made, row } from "../../support.ts";
import { inLong } from "../../../support/thorough.ts";

const letters = 4;
const places = 2;
/** Every response; the reward is the share of threes. */
const responses = Array.from({ length: letters ** places }, (_, n) =>
  Array.from({ length: places }, (_, place) => Math.floor(n / letters ** place) % letters),
);
const rewardOf = (response: readonly number[]): number =>
  response.filter((letter) => letter === 3).length / places;
/** What was written so far names the state. */
const stateOf = (response: readonly number[], place: number): string => response.slice(0, place).join("");

const batch = batchOf(
  responses.map((tokens, index) => row("g", index, { tokens, logp_old: tokens.map(() => 0) })),
);
const rewards: Combined = {
  sources: [
    {
      name: "threes",
      level: "response",
      offsets: Int32Array.from({ length: responses.length + 1 }, (_, i) => i),
      values: Float64Array.from(responses, rewardOf),
      status: new Uint8Array(responses.length),
      errors: new Map(),
    },
  ],
  total: Float64Array.from(responses, rewardOf),
  errored: new Uint8Array(responses.length),
};

/** Numbers by name, and the gradient on each. */
class Table {
  readonly values = new Map<string, number>();
  private readonly slopes = new Map<string, number>();
  get(name: string): number {
    return this.values.get(name) ?? 0;
  }
  add(name: string, slope: number): void {
    this.slopes.set(name, (this.slopes.get(name) ?? 0) + slope);
  }
  /** @returns the largest step */
  step(rate: (name: string) => number): number {
    let most = 0;
    for (const [name, slope] of this.slopes) {
      const by = rate(name) * slope;
      this.values.set(name, this.get(name) - by);
      most = Math.max(most, Math.abs(by));
    }
    this.slopes.clear();
    return most;
  }
}

/** The policy's logits and the heads' values, as tables; a gradient step on every response, weighed by `mass`. */
class Tabular {
  readonly logits = new Table();
  readonly heads = new Map<string, Table>();

  /** Log-probs of the letters. */
  distribution(state: string): readonly number[] {
    const logits = Array.from({ length: letters }, (_, letter) => this.logits.get(`${state}>${letter}`));
    const logsumexp = Math.log(logits.reduce((sum, logit) => sum + Math.exp(logit), 0));
    return logits.map((logit) => logit - logsumexp);
  }
  head(name: string): Table {
    const table = this.heads.get(name) ?? new Table();
    this.heads.set(name, table);
    return table;
  }
  /** How likely a response is. */
  chance(response: readonly number[]): number {
    return Math.exp(
      response.reduce((sum, letter, place) => sum + this.distribution(stateOf(response, place))[letter]!, 0),
    );
  }
  /** @param entryOf what a head's value at a token is a value of */
  learn(
    objective: Objective,
    mass: readonly number[],
    rate: number,
    entryOf: (channel: Channel, response: readonly number[], place: number) => string,
  ): number {
    const each = (value: (response: readonly number[], place: number) => number): Float64Array =>
      Float64Array.from(responses.flatMap((response) => response.map((_, place) => value(response, place))));
    const now = Object.fromEntries(
      objective.channels.map((channel) => [
        channel,
        each((response, place) => {
          const logp = this.distribution(stateOf(response, place));
          if (channel === "logp") return logp[response[place]!]!;
          if (channel === "greedy") return Math.max(...logp);
          // The reference writes noughts.
          if (channel === "greedy:reference") return logp[0]!;
          return this.head(channel).get(entryOf(channel, response, place));
        }),
      ]),
    );
    const factors = Float64Array.from(mass.flatMap((share) => Array.from({ length: places }, () => share)));
    const input: ObjectiveInput = {
      batch,
      now,
      old: now,
      advantages: new Float64Array(factors.length),
      rewards,
      weights: new Float64Array(factors.length).fill(1),
      factors,
    };
    for (const [channel, column] of Object.entries(objective.loss(input).gradients))
      responses.forEach((response, n) =>
        response.forEach((letter, place) =>
          this.slope(channel, column![n * places + place]!, response, place, letter, entryOf),
        ),
      );
    // A state that is rarely come to has as small a gradient: its step is as if it were always come to.
    const visits = new Map<string, number>();
    responses.forEach((response, n) => {
      for (let place = 0; place <= places; place++) {
        const state = stateOf(response, place);
        visits.set(state, (visits.get(state) ?? 0) + mass[n]!);
      }
    });
    const pace = (name: string): number => rate / visits.get(name.split(">")[0]!)!;
    return Math.max(...[this.logits, ...this.heads.values()].map((table) => table.step(pace)));
  }
  private slope(
    channel: string,
    by: number,
    response: readonly number[],
    place: number,
    letter: number,
    entryOf: (channel: Channel, response: readonly number[], place: number) => string,
  ): void {
    const state = stateOf(response, place);
    if (channel !== "logp" && channel !== "greedy") {
      this.head(channel).add(entryOf(channel as Channel, response, place), by);
      return;
    }
    const logps = this.distribution(state);
    const chosen = channel === "greedy" ? logps.indexOf(Math.max(...logps)) : letter;
    logps.forEach((logp, other) =>
      this.logits.add(`${state}>${other}`, by * ((other === chosen ? 1 : 0) - Math.exp(logp))),
    );
  }
}
const before = (_: Channel, response: readonly number[], place: number): string => stateOf(response, place);
const even = responses.map(() => 1 / responses.length);

inLong(
  "token_q comes to rest at the values of what the reference would go on with, and its logits at their gaps over α",
  () => {
    for (const alpha of [0.1, 0.5]) {
      const objective = made(tokenQ, { alpha, gamma: 1 });
      const table = new Tabular();
      let moved = 1;
      for (let i = 0; i < 60000 && moved > 1e-8; i++)
        moved = table.learn(objective, even, alpha > 0.2 ? 0.5 : 1, before);
      // Behind "3" comes "0": Q("", 3) = 1/2. Behind a letter, a three is worth 1/2 more than any other.
      for (const [state, worth] of [
        ["", 1 / 2],
        ["0", 1 / 2],
        ["3", 1],
      ] as const) {
        assert.ok(Math.abs(table.head("head:value").get(state) - worth) < 1e-4, state);
        const logps = table.distribution(state);
        for (const letter of [0, 1, 2])
          assert.ok(Math.abs(logps[3]! - logps[letter]! - 1 / 2 / alpha) < 1e-3, `${state}${letter}`);
      }
    }
  },
);

test("ilql comes to rest where Q = r + V(s') and V is an expectile of Q", () => {
  const tau = 0.7;
  const objective = made(ilql, { gamma: 1, tau, cql: 0 });
  const table = new Tabular();
  const entryOf = (channel: Channel, response: readonly number[], place: number): string =>
    stateOf(response, channel.startsWith("head:q") ? place + 1 : place);
  let moved = 1;
  for (let i = 0; i < 60000 && moved > 1e-8; i++) moved = table.learn(objective, even, 1, entryOf);
  /** The τ-expectile of Q over evenly drawn letters: one in four is worth 1/2 more. */
  const expectile = tau / letters / (tau / letters + ((1 - tau) * (letters - 1)) / letters) / places;
  for (let place = 0; place < places; place++) {
    const state = "3".repeat(place);
    const left = places - place;
    const wanted = place / places + left * expectile;
    assert.ok(Math.abs(table.head("head:value").get(state) - wanted) < 1e-4);
    for (let letter = 0; letter < letters; letter++)
      for (const head of ["head:q1", "head:q2"]) {
        const q = table.head(head).get(`${state}${letter}`);
        const worth = (place + (letter === 3 ? 1 : 0)) / places + (left - 1) * expectile;
        assert.ok(Math.abs(q - worth) < 1e-4, `${q}, not ${worth}`);
      }
  }
});

test("the turn critic comes to rest where Q is the response's reward and V its mean", () => {
  const objective = made(turnCritic, {});
  const table = new Tabular();
  // Q is of the whole response; what a state is worth before its last letter would say nothing of that letter.
  const entryOf = (channel: Channel, response: readonly number[], place: number): string =>
    channel.startsWith("head:q") ? stateOf(response, place + 1) : stateOf(response, place);
  let moved = 1;
  for (let i = 0; i < 60000 && moved > 1e-8; i++) moved = table.learn(objective, even, 0.1, entryOf);
  for (const head of ["q1", "q2"] as const)
    for (const response of responses)
      assert.ok(Math.abs(table.head(`head:${head}`).get(response.join("")) - rewardOf(response)) < 1e-4);
  for (const head of ["v1", "v2"] as const)
    assert.ok(Math.abs(table.head(`head:${head}`).get("") - 1 / letters) < 1e-4);
});
