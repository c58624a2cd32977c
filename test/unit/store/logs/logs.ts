/** Logs of trainings, written small: a metric is a function of the step. */
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { newFolder } from "../support.ts";

export type Course = (step: number) => number;
export type Courses = Readonly<Record<string, Course>>;

/** The same at each call, between −1 and 1. */
export const wobble = (step: number): number => Math.sin(step * 12.9898) * Math.cos(step * 4.1);
/** From one value to another between two steps. */
export const course =
  (from: number, to: number, begin = 0, end = 1, spread = 0.02): Course =>
  (step) =>
    from + (to - from) * Math.min(1, Math.max(0, (step - begin) / (end - begin))) + spread * wobble(step);

/** A file in a folder of its own, which is removed in the end. */
export function written(name: string, text: string): string {
  const path = join(newFolder(), "..", name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
  return path;
}

export const steps = (from: number, to: number): number[] =>
  Array.from({ length: to - from + 1 }, (_, at) => from + at);

const valuesAt = (courses: Courses, step: number): (readonly [string, number])[] =>
  Object.entries(courses).map(([name, of]) => [name, of(step)] as const);

/** As verl's console logger prints a step. */
export const verlLineOf = (courses: Courses, step: number): string =>
  `step:${step} - ${valuesAt(courses, step)
    .map(([name, value]) => `${name}:${value}`)
    .join(" - ")}`;

/** As Python prints a dict. */
export function dictOf(courses: Courses, step: number, quoted = false): string {
  const python = (value: number): string =>
    Number.isNaN(value) ? "nan" : value === Number.POSITIVE_INFINITY ? "inf" : String(value);
  const pairs = valuesAt(courses, step).map(([name, value]) =>
    quoted ? `'${name}': '${python(value)}'` : `'${name}': ${python(value)}`,
  );
  return `{${pairs.join(", ")}}`;
}

/** What a run that learns logs in verl. */
export const soundVerl: Courses = {
  "actor/entropy": course(0.4, 0.3, 0, 80, 0.01),
  "actor/pg_loss": course(0, 0, 0, 1, 0.01),
  "actor/grad_norm": course(0.3, 0.3, 0, 1, 0.05),
  "critic/score/mean": course(0.3, 0.6, 0, 80, 0.04),
  "response_length/mean": course(400, 420, 0, 80, 10),
  "response_length/clip_ratio": course(0.03, 0.03, 0, 1, 0.01),
};

/** And in TRL. */
export const soundTrl: Courses = {
  loss: course(0, 0, 0, 1, 0.001),
  grad_norm: course(0.3, 0.3, 0, 1, 0.05),
  "completions/mean_length": course(300, 320, 0, 80, 10),
  "completions/clipped_ratio": course(0.05, 0.05, 0, 1, 0.01),
  "rewards/format_reward/mean": course(0.2, 0.95, 0, 25),
  "rewards/correct_reward/mean": course(0.3, 0.6, 0, 80),
  reward: course(0.5, 1.55, 0, 60),
  reward_std: course(0.4, 0.3, 0, 80, 0.01),
  frac_reward_zero_std: course(0.1, 0.3, 0, 80),
  kl: course(0, 0.02, 0, 80, 0.001),
  epoch: (step) => step / 1000,
};
