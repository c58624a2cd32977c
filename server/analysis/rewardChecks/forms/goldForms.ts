/** How a task's reference answer is written as a response: datasets hold `72`, rewards ask for `#### 72` or `\boxed{72}`. */
import { fieldOf } from "../../../core/templates.ts";
import type { Task } from "../../../core/task.ts";

export interface GoldForm {
  /** Completes "the reference answer, …". */
  readonly name: string;
  /** undefined: the task has none. */
  readonly of: (task: Task) => string | undefined;
  /** Another answer written in the same way; undefined where the form has no place for one. */
  readonly with: (task: Task, answer: string) => string | undefined;
}

/** What a row of common datasets holds its whole solution in. */
const solutionFields = [
  "extra_info.answer",
  "extra_info.solution",
  "solution",
  "answer",
  "completion",
  "response",
];

const around = (name: string, write: (answer: string) => string): GoldForm => ({
  name,
  of: ({ answer }) => (answer === undefined ? undefined : write(answer)),
  with: (_, answer) => write(answer),
});

/** A whole solution: another answer takes the place of the last that it gives. */
const whole = (name: string, of: GoldForm["of"]): GoldForm => ({
  name,
  of,
  with: (task, answer) => {
    const [text, right] = [of(task), task.answer];
    const at = text === undefined || right === undefined || right === "" ? -1 : text.lastIndexOf(right);
    return at < 0 ? undefined : `${text!.slice(0, at)}${answer}${text!.slice(at + right!.length)}`;
  },
});

const field = (path: string): GoldForm =>
  whole(`as the field \`${path}\` writes it`, (task) => {
    const value = fieldOf(task, path);
    return typeof value === "string" && value !== task.answer ? value : undefined;
  });

/** From what the data itself writes to the forms that the field's rewards ask for. */
export const goldForms: readonly GoldForm[] = [
  whole("as the solution writes it", ({ solution, answer }) => (solution === answer ? undefined : solution)),
  ...solutionFields.map(field),
  around("as it is", (answer) => answer),
  around("after `####`", (answer) => `#### ${answer}`),
  around("in `\\boxed{}`", (answer) => `\\boxed{${answer}}`),
  around("in `<answer>`", (answer) => `<answer>${answer}</answer>`),
  around("in `<think>` and `<answer>`", (answer) => `<think>\n\n</think>\n<answer>${answer}</answer>`),
  around("in `<think>` and `\\boxed{}`", (answer) => `<think>\n\n</think>\n\\boxed{${answer}}`),
  around("in a sentence", (answer) => `The answer is ${answer}.`),
];
