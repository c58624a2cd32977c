/** The thread that reads datasets for an editor: their rows and the tokens of their prompts would hold up its next key. */
import { parentPort, workerData } from "node:worker_threads";
import type { DatasetLook } from "../core/config/modelFacts.ts";
import { methodOf } from "../methods/index.ts";
import { datasetLook, type DatasetTask } from "./datasetFacts.ts";
import { countTokens, type TokenReader } from "./modelFacts.ts";

/** A task as what a message can carry. */
export interface PlainTask {
  readonly name: string;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly folder: string;
}

export type DatasetQuestion =
  | { readonly kind: "look"; readonly key: string; readonly tasks: readonly PlainTask[] }
  | { readonly kind: "counts"; readonly key: string; readonly task: PlainTask; readonly reader: TokenReader };

/** In the order of the questions. `counts` undefined: the data or the model are not read. */
export type DatasetAnswer =
  | { readonly key: string; readonly look: DatasetLook }
  | { readonly key: string; readonly counts: Uint32Array | undefined };

function taskOf({ name, method, params, folder }: PlainTask): DatasetTask {
  const declaration = methodOf("task", method);
  if (declaration === undefined) throw new Error(`there is no task source ${method}`);
  return { name, source: { use: method, declaration, params, folder } };
}

const answer = (question: DatasetQuestion): DatasetAnswer =>
  question.kind === "look"
    ? { key: question.key, look: datasetLook(question.tasks.map(taskOf)) }
    : { key: question.key, counts: countTokens(question.reader, taskOf(question.task)) };

// All in one turn: what one reads the next finds read.
if (parentPort !== null) parentPort.postMessage((workerData as readonly DatasetQuestion[]).map(answer));
