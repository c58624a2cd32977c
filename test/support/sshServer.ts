/** A real sshd of this user's on loopback, with a relay before it that can be made a bad line. */
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createConnection, createServer, type AddressInfo, type Server, type Socket } from "node:net";
import { userInfo } from "node:os";
import { join, resolve } from "node:path";
import { isRunning } from "../../shared/daemon/process.ts";
import { until } from "./until.ts";

type Program =
  | { readonly kind: "sshd"; readonly path: string; readonly libraries: string }
  | { readonly kind: "none"; readonly why: string };

/** Not installed: unpacked below out/, and kept between runs. */
const packages = ["openssh-server", "libwrap0", "libnsl2", "libtirpc3"];

/** @param download whether Debian's packages may be fetched, which takes seconds */
export function sshdProgram(download: boolean): Program {
  if (process.platform !== "linux") return { kind: "none", why: "there is no sshd to start on this system" };
  if (spawnSync("ssh", ["-V"]).status !== 0) return { kind: "none", why: "there is no ssh here" };
  if (existsSync("/usr/sbin/sshd")) return { kind: "sshd", path: "/usr/sbin/sshd", libraries: "" };
  const folder = resolve("out", "packages", "sshd");
  const path = join(folder, "usr", "sbin", "sshd");
  if (!existsSync(path)) {
    const why = download ? unpack(folder) : "`npm run test:long` fetches what it needs";
    if (why !== undefined) return { kind: "none", why };
  }
  const roots = [join(folder, "usr", "lib"), join(folder, "lib")].filter((root) => existsSync(root));
  const libraries = roots.flatMap((root) =>
    readdirSync(root).flatMap((name) => (name.endsWith("-linux-gnu") ? [join(root, name)] : [])),
  );
  return { kind: "sshd", path, libraries: libraries.join(":") };
}

/** @returns why it could not be done */
function unpack(folder: string): string | undefined {
  const draft = `${folder}.part`;
  rmSync(draft, { recursive: true, force: true });
  mkdirSync(draft, { recursive: true });
  const fetched = spawnSync("apt-get", ["download", ...packages], { cwd: draft, encoding: "utf8" });
  if (fetched.error !== undefined) return "there is neither sshd nor apt-get here";
  const files = readdirSync(draft).filter((name) => name.endsWith(".deb"));
  if (files.length < packages.length) return "apt-get reaches no mirror with openssh-server";
  for (const file of files) {
    const { status, stderr } = spawnSync("dpkg", ["-x", join(draft, file), folder], { encoding: "utf8" });
    if (status !== 0) return `openssh-server cannot be unpacked: ${stderr}`;
  }
  rmSync(draft, { recursive: true, force: true });
  return undefined;
}

export class SshServer {
  /** A command line for GRADUS_SSH: `box` is this server, through the relay. */
  readonly command: string;
  private child: ChildProcess | undefined;
  private said = "";

  private constructor(
    private readonly folder: string,
    private readonly program: Extract<Program, { kind: "sshd" }>,
    private readonly port: number,
    readonly relay: Relay,
  ) {
    this.command = `ssh -F ${join(folder, "config")}`;
  }

  /** @param folder an own folder, whose path has no space */
  static async make(folder: string, program: Extract<Program, { kind: "sshd" }>): Promise<SshServer> {
    const port = await freePort();
    const relay = await Relay.to(port);
    const server = new SshServer(folder, program, port, relay);
    server.configure();
    return server;
  }

  private configure(): void {
    const at = (name: string): string => join(this.folder, name);
    for (const key of ["host", "user"])
      spawnSync("ssh-keygen", ["-q", "-t", "ed25519", "-N", "", "-f", at(key)]);
    const lines = (...all: readonly string[]): string => `${all.join("\n")}\n`;
    writeFileSync(at("authorized"), readFileSync(at("user.pub")), { mode: 0o600 });
    writeFileSync(at("known"), `box ${readFileSync(at("host.pub"), "utf8")}`);
    writeFileSync(
      at("sshd_config"),
      lines(
        ...[`Port ${this.port}`, "ListenAddress 127.0.0.1", `HostKey ${at("host")}`],
        ...[`AuthorizedKeysFile ${at("authorized")}`, `PidFile ${at("pid")}`],
        ...["StrictModes no", "UsePAM no", "PasswordAuthentication no", "PermitRootLogin yes"],
      ),
    );
    writeFileSync(
      at("config"),
      lines(
        ...["Host box", "  HostName 127.0.0.1", `  Port ${this.relay.port}`, `  User ${userInfo().username}`],
        ...["  HostKeyAlias box", `  IdentityFile ${at("user")}`, "  IdentitiesOnly yes"],
        ...["  StrictHostKeyChecking yes", `  UserKnownHostsFile ${at("known")}`],
        "  GlobalKnownHostsFile none",
      ),
    );
  }

  /** @throws where it does not listen, with what it said */
  async start(): Promise<void> {
    const words = [this.program.path, "-D", "-e", "-f", join(this.folder, "sshd_config")];
    const [first = "", ...rest] = userInfo().uid === 0 ? this.asRoot(words) : words;
    this.said = "";
    const child = (this.child = spawn(first, rest, {
      stdio: ["ignore", "ignore", "pipe"],
      env: { ...process.env, LD_LIBRARY_PATH: this.program.libraries },
    }));
    child.stderr?.setEncoding("utf8").on("data", (text: string) => (this.said += text));
    await until(() => {
      if (child.exitCode !== null) throw new Error(`sshd ended: ${this.said}`);
      return this.said.includes("Server listening");
    }, "sshd to listen");
  }

  /** As root it wants a user and a folder of its own: they are there for its processes alone. */
  private asRoot(words: readonly string[]): string[] {
    const users = join(this.folder, "passwd");
    const own = readFileSync("/etc/passwd", "utf8");
    writeFileSync(
      users,
      /^sshd:/m.test(own) ? own : `${own}sshd:x:65534:65534::/nonexistent:/usr/sbin/nologin\n`,
    );
    const script = `mount --bind ${users} /etc/passwd && mount -t tmpfs -o mode=755 none /run && mkdir /run/sshd && exec "$@"`;
    return ["unshare", "--mount", "sh", "-c", script, "sh", ...words];
  }

  /** With all its connections. */
  async kill(): Promise<void> {
    const pid = this.child?.pid;
    if (pid === undefined) return;
    const all = withChildren(pid);
    for (const one of all) if (isRunning(one)) process.kill(one, "SIGKILL");
    await until(() => all.every((one) => !isRunning(one)), "sshd to end");
    this.child = undefined;
  }

  async end(): Promise<void> {
    await this.kill();
    this.relay.close();
  }
}

/** Of sshd: what a user runs stays. */
function withChildren(pid: number): number[] {
  const all = readdirSync("/proc").flatMap((name) =>
    /^\d+$/.test(name) ? (sshdOf(Number(name)) ?? []) : [],
  );
  const found = [pid];
  for (const parent of found) for (const one of all) if (one.parent === parent) found.push(one.pid);
  return found;
}

function sshdOf(pid: number): { readonly pid: number; readonly parent: number } | undefined {
  try {
    const [, name, parent] = /^\d+ \((.*)\) \S (\d+)/.exec(readFileSync(`/proc/${pid}/stat`, "latin1")) ?? [];
    return name === "sshd" ? { pid, parent: Number(parent) } : undefined;
  } catch {
    return undefined; // it has ended
  }
}

async function freePort(): Promise<number> {
  const server = await listening(createServer());
  const { port } = addressOf(server);
  await new Promise((done) => server.close(done));
  return port;
}

const listening = (server: Server): Promise<Server> =>
  new Promise((done, failed) => {
    server.once("error", failed);
    server.listen(0, "127.0.0.1", () => done(server));
  });

function addressOf(server: Server): AddressInfo {
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the relay has no port");
  return address;
}

/** What lies between. */
export class Relay {
  readonly port: number;
  /** Milliseconds by which each piece is late. */
  delay = 0;
  private hangs = false;
  private readonly sockets = new Set<Socket>();

  private constructor(
    private readonly server: Server,
    private readonly target: number,
  ) {
    this.port = addressOf(server).port;
    server.on("connection", (socket) => this.connect(socket));
  }

  static async to(target: number): Promise<Relay> {
    return new Relay(await listening(createServer()), target);
  }

  /** Nothing gets through any more, and no side hears of it. */
  hang(): void {
    this.hangs = true;
    for (const socket of this.sockets) socket.pause();
  }

  goOn(): void {
    this.hangs = false;
    for (const socket of this.sockets) socket.resume();
  }

  /** All connections end at once, as a router that forgets them does. */
  reset(): void {
    for (const socket of this.sockets) socket.resetAndDestroy();
  }

  close(): void {
    this.server.close();
    for (const socket of this.sockets) socket.destroy();
  }

  private connect(client: Socket): void {
    const host = createConnection({ host: "127.0.0.1", port: this.target });
    for (const [from, to] of [
      [client, host],
      [host, client],
    ] as const) {
      this.sockets.add(from);
      if (this.hangs) from.pause();
      from.on("data", (bytes) => setTimeout(() => to.writable && to.write(bytes), this.delay));
      from.on("error", () => to.destroy());
      from.on("close", () => {
        this.sockets.delete(from);
        setTimeout(() => to.destroy(), this.delay);
      });
    }
  }
}
