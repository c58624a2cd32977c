/** A process that runs programs of one language, one at a time, as it is told on its standard input; it ends with it. */
import { readFrame, writeFrame } from "./frames.ts";
import { startJavaScript } from "./javascript/interpreter.ts";
import type { Answered, Interpreter, Order, Parts, Said } from "./messages.ts";
import { startPython } from "./python/interpreter.ts";

const say = (said: Said): void => writeFrame(1, said);

function leave(): never {
  process.exit(0);
}

function ask(text: string): string | undefined {
  say({ kind: "asks", text });
  const answered = readFrame(0) as Answered | undefined;
  return answered === undefined ? leave() : (answered.text ?? undefined);
}

const parts = readFrame(0) as Parts | undefined;
if (parts === undefined) leave();
const interpreter: Interpreter =
  parts.language === "python" ? await startPython(parts) : startJavaScript(parts.wasm);
const { image } = interpreter;
say({ kind: "ready", ...(image && { image: Buffer.from(image).toString("base64") }) });
for (;;) {
  const order = readFrame(0) as Order | undefined;
  if (order === undefined) leave();
  const done = await interpreter.run(order, order.isAnswered ? ask : () => undefined);
  say({ kind: "ran", ...done, held: interpreter.held() });
}
