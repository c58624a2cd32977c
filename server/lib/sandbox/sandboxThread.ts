/** A thread that runs programs of one language, one at a time. */
import { parentPort, workerData } from "node:worker_threads";
import { runJavaScript } from "./javascript/interpreter.ts";
import type { Parts } from "./parts.ts";
import type { FromThread } from "../threads/thread.ts";
import { startPython } from "./python/interpreter.ts";
import type { SandboxProgram, SandboxResult } from "./sandbox.ts";

/** What a thread is begun with. */
export type ThreadData = Parts & { readonly image?: Uint8Array };

type Run = (program: SandboxProgram) => Promise<{ result: SandboxResult; spent: boolean }>;

async function started(data: ThreadData): Promise<{ run: Run; image?: Uint8Array }> {
  if (data.language === "javascript") {
    const { wasm } = data;
    return { run: async (program) => ({ result: await runJavaScript(wasm, program), spent: false }) };
  }
  const python = await startPython(data.parts, data.image);
  return {
    run: (program) => {
      const { spent, ...result } = python.run(program);
      return Promise.resolve({ result, spent });
    },
    ...(python.image && { image: python.image }),
  };
}

const post = (message: FromThread<SandboxResult>): void => parentPort?.postMessage(message);

const data = workerData as ThreadData;
const { run, image } = await started(data);
parentPort?.on("message", (program: SandboxProgram) => {
  void run(program).then((done) => post({ kind: "ran", ...done }));
});
post({ kind: "ready", ...(image && { image }) });
