/** Processes that run an environment or a tool of the user's own: in Node, or in the Python that is meant for it. */
import { randomInt } from "node:crypto";
import type { Json } from "../../../shared/lib/json.ts";
import { withBundleFile } from "./bundleFile.ts";
import { FramedProcess } from "./framedProcess.ts";
import { hostFile, type Part } from "./ownProcess.ts";
import { ScriptProcess } from "./scriptProcess.ts";
import type {
  FromObject,
  LoadAnswer,
  ObjectAnswer,
  ObjectQuestion,
  ObjectRole,
  ToObject,
} from "./objectWire.ts";

/** What the user's code threw, or how it answered wrongly: the process lives on. */
export class OwnError extends Error {}

export interface ObjectHost {
  /** @throws NoAnswer */
  load(name: string, role: ObjectRole, seconds: number): Promise<LoadAnswer>;
  /** One question, one answer. @throws OwnError; NoAnswer, after which the process is dead */
  ask(question: ObjectQuestion, seconds: number, signal?: AbortSignal): Promise<Json>;
  close(): Promise<void>;
}

const isLoadAnswer = (message: object): message is LoadAnswer =>
  "kind" in message && (message.kind === "loaded" || message.kind === "refused");
const isAnswer = (message: object, id: number): message is ObjectAnswer =>
  "id" in message && message.id === id && ("value" in message || "error" in message);

/** Questions are numbered from anywhere, so that an answer that was made up does not meet one. */
class Numbers {
  private last = randomInt(2 ** 40);
  next(): number {
    return (this.last += 1);
  }
}

type Converse<Question> = (question: Question, take: (message: object) => Part) => Promise<void>;

async function loadAnswer<Question>(question: Question, converse: Converse<Question>): Promise<LoadAnswer> {
  const answers: LoadAnswer[] = [];
  await converse(question, (message) => {
    if (!isLoadAnswer(message)) return "other";
    answers.push(message);
    return "last";
  });
  return answers[0]!;
}

async function valueOf<Question>(
  question: Question,
  id: number,
  converse: Converse<Question>,
): Promise<Json> {
  const answers: ObjectAnswer[] = [];
  await converse(question, (message) => {
    if (!isAnswer(message, id)) return "other";
    answers.push(message);
    return "last";
  });
  const answer = answers[0]!;
  if ("error" in answer) throw new OwnError(answer.error);
  return answer.value;
}

export class ScriptObject extends ScriptProcess<ToObject, FromObject> implements ObjectHost {
  private readonly numbers = new Numbers();

  /** @param bundle its text */
  constructor(
    private readonly bundle: string,
    folder: string,
  ) {
    super(hostFile("objectHost.mjs", process.env["GRADUS_OBJECT_HOST"]), folder);
  }

  load(name: string, role: ObjectRole, seconds: number): Promise<LoadAnswer> {
    return withBundleFile(this.bundle, (bundle) =>
      loadAnswer({ kind: "load" as const, bundle, name, role }, (question, take) =>
        this.converse(question, seconds, undefined, take),
      ),
    );
  }

  ask(question: ObjectQuestion, seconds: number, signal?: AbortSignal): Promise<Json> {
    const id = this.numbers.next();
    return valueOf({ kind: "ask" as const, id, question }, id, (asked, take) =>
      this.converse(asked, seconds, signal, take),
    );
  }
}

/** A Python file: its absolute path and its text. */
export interface PythonText {
  readonly file: string;
  readonly text: string;
}

type ToPython =
  | ({ readonly kind: "load"; readonly name: string; readonly role: ObjectRole } & PythonText)
  | { readonly kind: "ask"; readonly id: number; readonly question: ObjectQuestion };

export class PythonObject extends FramedProcess<ToPython> implements ObjectHost {
  private readonly numbers = new Numbers();

  constructor(
    python: string,
    private readonly source: PythonText,
    {
      folder,
      environment,
    }: {
      readonly folder: string;
      readonly environment?: Readonly<Record<string, string>> | undefined;
    },
  ) {
    super(python, hostFile("objectHost.py", process.env["GRADUS_PYTHON_OBJECT_HOST"]), folder, environment);
  }

  async load(name: string, role: ObjectRole, seconds: number): Promise<LoadAnswer> {
    await this.version();
    return loadAnswer({ kind: "load" as const, name, role, ...this.source }, (question, take) =>
      this.converse(question, seconds, undefined, take),
    );
  }

  ask(question: ObjectQuestion, seconds: number, signal?: AbortSignal): Promise<Json> {
    const id = this.numbers.next();
    return valueOf({ kind: "ask" as const, id, question }, id, (asked, take) =>
      this.converse(asked, seconds, signal, take),
    );
  }
}
