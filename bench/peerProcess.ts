/** The other side of a benchmark: a Python process that measures once for every line it reads. */
import { spawn, spawnSync } from "node:child_process";
import { createInterface } from "node:readline";
import { option } from "./report.ts";

export const python = process.env["GRADUS_PEER_PYTHON"] ?? process.env["PYTHON"] ?? "python3";

/** Why there is no other side, if there is none. */
export function missingPeer(...modules: readonly string[]): string | undefined {
  if (option("ours", 0) === 1) return "--ours=1 was given";
  const { status } = spawnSync(python, ["-c", `import ${modules.join(", ")}`], { stdio: "ignore" });
  return status === 0
    ? undefined
    : `${python} does not import ${modules.join(", ")}: name one that does by GRADUS_PEER_PYTHON`;
}

export class PeerProcess {
  private readonly child;
  private readonly reader;
  private readonly lines: AsyncIterator<string>;

  /** @param script a file of bench/peer */
  constructor(script: string) {
    this.child = spawn(python, [`bench/peer/${script}`], { stdio: ["pipe", "pipe", "inherit"] });
    this.reader = createInterface({ input: this.child.stdout });
    this.lines = this.reader[Symbol.asyncIterator]();
  }

  /** Seconds that one work took there. */
  async seconds(work: object): Promise<number> {
    this.child.stdin.write(`${JSON.stringify(work)}\n`);
    const { value, done } = await this.lines.next();
    if (done === true) throw new Error("the PyTorch side ended");
    return Number(value);
  }

  close(): void {
    this.child.stdin.end();
    this.reader.close();
  }
}
