/** TensorFlow's wheel without pip: which index is named, what it has, fetching it over broken connections, taking files out. */
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { connect, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, test } from "node:test";
import { pathToFileURL } from "node:url";

interface Index {
  readonly url: string;
  readonly from: string;
}
interface Asked {
  readonly env: Record<string, string>;
  readonly platform: NodeJS.Platform;
  readonly home: string;
  read(file: string): string | undefined;
}
interface Wheel {
  readonly name: string;
  readonly version: string;
  readonly python?: string;
  readonly platforms: readonly string[];
  readonly sha256?: string;
}
interface PackageIndex {
  namedIndex(asked: Asked): Index | undefined;
  filesOf(text: string, page: string): { filename: string; url: string; sha256?: string }[];
  findWheel(index: Index, wheel: Wheel): Promise<{ filename: string; url: string; sha256?: string }>;
}
interface Download {
  download(url: string, file: string, sha256?: string): Promise<string>;
  withoutPassword(url: string): string;
  proxyFor(url: string, env: Record<string, string>): URL | undefined;
}
interface Systems {
  systemOf(node: object): string;
  whyNone(system: string): string;
  partsOf(system: string): object | undefined;
}
const load = async <T>(name: string): Promise<T> =>
  import(pathToFileURL(join(process.cwd(), "scripts", "setup", `${name}.mjs`)).href);

let index: PackageIndex;
let downloads: Download;
let folder: string;
let server: Server;
let answer: RequestListener = (_, response) => response.writeHead(404).end();
const base = (user = ""): string => `http://${user}127.0.0.1:${(server.address() as AddressInfo).port}`;
const variables = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY", "GRADUS_DATA"];
const saved = new Map(variables.map((name) => [name, process.env[name]]));

before(async () => {
  index = await load<PackageIndex>("packageIndex");
  downloads = await load<Download>("download");
  folder = mkdtempSync(join(tmpdir(), "gradus-wheels-"));
  for (const name of variables) Reflect.deleteProperty(process.env, name);
  server = createServer((request, response) => answer(request, response));
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
});
beforeEach(() => Reflect.deleteProperty(process.env, "http_proxy"));
after(() => {
  server.closeAllConnections();
  server.close();
  for (const [name, value] of saved)
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  rmSync(folder, { recursive: true });
});

const named = (
  files: Record<string, string>,
  env: Record<string, string> = {},
  platform: NodeJS.Platform = "linux",
) =>
  index.namedIndex({
    env,
    platform,
    home: "/home/a",
    read: (file) => files[file.replaceAll("\\", "/")],
  });

test("the index is what uv's or pip's variables name, else their files, on each system", () => {
  assert.equal(named({}), undefined);
  const variable = { UV_DEFAULT_INDEX: "mine=https://a/simple", PIP_INDEX_URL: "https://b/simple" };
  assert.deepEqual(named({}, variable), { url: "https://a/simple", from: "UV_DEFAULT_INDEX" });
  const uv = '[[index]]\nname = "x"\nurl = "https://no"\n\n[[index]]\nurl = "https://c"\ndefault = true\n';
  const file = "/home/a/.config/uv/uv.toml";
  assert.deepEqual(named({ [file]: uv }), { url: "https://c", from: file });
  assert.equal(named({ [file]: '[pip]\nindex-url = "https://d" # ours\n' })?.url, "https://d");
  assert.equal(named({ [file]: '[other]\nindex-url = "https://d"\n' }), undefined);
  const pip = "[global]\r\nindex-url = https://e/simple/\r\n[download]\r\nindex_url: https://f\r\n";
  assert.equal(named({ "/etc/pip.conf": pip })?.url, "https://f");
  assert.equal(
    named({ "/home/a/Library/Application Support/pip/pip.conf": pip }, {}, "darwin")?.url,
    "https://f",
  );
  const roaming = { APPDATA: "C:/Users/a/AppData/Roaming" };
  assert.equal(named({ "C:/Users/a/AppData/Roaming/pip/pip.ini": pip }, roaming, "win32")?.url, "https://f");
  assert.equal(named({ "/v/pip.conf": pip }, { VIRTUAL_ENV: "/v" })?.url, "https://f");
});

const wheel: Wheel = {
  name: "tensor-flow",
  version: "2.0",
  python: "3.12",
  platforms: ["win_amd64", "linux_x"],
};
const names = [
  "tensor_flow-2.0-cp311-cp311-win_amd64.whl",
  "tensor_flow-2.0-cp312-cp312-macosx_12_0_arm64.whl",
  "tensor_flow-2.0.tar.gz",
  "tensor_flow-2.0-cp312-cp312-many_1.linux_x.whl",
];

test("a page in JSON or in HTML, and of its files the one for this system", async () => {
  const html = names
    .map((name) => `<a href="../f/${name}#sha256=${"0".repeat(64)}">${name}</a>`)
    .join("<br>");
  const json = JSON.stringify({
    files: names.map((filename) => ({
      filename,
      url: `../f/${filename}`,
      hashes: { sha256: "0".repeat(64) },
    })),
  });
  for (const page of [html, json]) {
    const asked: IncomingMessage[] = [];
    answer = (request, response) => (asked.push(request), response.end(page));
    const found = await index.findWheel({ url: `${base("me:pass%20word@")}/simple`, from: "X" }, wheel);
    assert.deepEqual(found, {
      filename: names[3],
      url: `${base("me:pass%20word@")}/simple/f/${names[3]}`,
      sha256: "0".repeat(64),
    });
    assert.equal(asked[0]?.url, "/simple/tensor-flow/");
    assert.equal(asked[0]?.headers.authorization, `Basic ${btoa("me:pass word")}`);
  }
});

test("no message shows a password", async () => {
  answer = (_, response) => response.end("<html></html>");
  await assert.rejects(
    index.findWheel({ url: base("me:secret@"), from: "UV_DEFAULT_INDEX" }, wheel),
    (error: Error & { fix?: string }) => {
      assert.match(
        error.message,
        /127\.0\.0\.1:\d+\/tensor-flow\/ has no wheel of tensor-flow 2\.0 for win_amd64/,
      );
      assert.match(error.fix ?? "", /UV_DEFAULT_INDEX/);
      return !`${error.message}${error.fix}`.includes("secret");
    },
  );
  answer = (_, response) => response.writeHead(403).end();
  await assert.rejects(
    downloads.download(`${base("me:secret@")}/a?token=secret`, join(folder, "a")),
    (error: Error) => /the answer is 403/.test(error.message) && !error.message.includes("secret"),
  );
});

test("a connection that breaks off is gone on with, now and by the next call; another file is refused", async () => {
  const bytes = Buffer.from("0123456789".repeat(20_000));
  const sum = createHash("sha256").update(bytes).digest("hex");
  const ranges: (string | undefined)[] = [];
  let most = 50_000;
  answer = (request, response) => {
    ranges.push(request.headers.range);
    const from = Number(/\d+/.exec(request.headers.range ?? "0")?.[0]);
    response.writeHead(from === 0 ? 200 : 206, { "Content-Length": bytes.length - from });
    const part = bytes.subarray(from, from + most);
    if (part.length === bytes.length - from) return void response.end(part);
    response.write(part, () => response.socket?.end());
  };
  const file = join(folder, "whole.whl");
  assert.equal(await downloads.download(`${base()}/w`, file, sum), sum);
  assert.deepEqual(readFileSync(file), bytes);
  // A try may bring nothing: a connection that is reset loses what was not yet read.
  assert.ok(ranges.length >= 4 && /^bytes=[1-9]/.test(ranges.at(-1) ?? ""), ranges.join());
  const other = join(folder, "other.whl");
  writeFileSync(`${other}.part`, bytes.subarray(0, 150_000));
  most = bytes.length;
  ranges.length = 0;
  await downloads.download(`${base()}/w`, other, sum);
  assert.deepEqual(ranges, ["bytes=150000-"]);
  await assert.rejects(
    downloads.download(`${base()}/w`, join(folder, "third"), "f".repeat(64)),
    /has the SHA-256 [0-9a-f]{64}, not f{64}/,
  );
  assert.ok(!existsSync(join(folder, "third.part")) && !existsSync(join(folder, "third")));
});

test("a proxy is used, but for what is excepted", async () => {
  const seen: string[] = [];
  const proxy = createServer((request, response) => {
    seen.push(`${request.headers["proxy-authorization"]} ${request.url}`);
    response.end("by the proxy");
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  try {
    process.env["http_proxy"] = `http://u:p@127.0.0.1:${(proxy.address() as AddressInfo).port}`;
    await downloads.download("http://index.invalid/a", join(folder, "proxied"));
    assert.deepEqual(seen, [`Basic ${btoa("u:p")} http://index.invalid/a`]);
    assert.equal(readFileSync(join(folder, "proxied"), "utf8"), "by the proxy");
  } finally {
    proxy.closeAllConnections();
    proxy.close();
  }
  const env = { HTTPS_PROXY: "proxy:8080", no_proxy: "localhost, .inner, host:9" };
  const of = (url: string) => downloads.proxyFor(url, env)?.href;
  assert.equal(of("https://a.b/x"), "http://proxy:8080/");
  for (const url of ["https://localhost/", "https://a.inner/", "https://host:9/", "http://a.b/"])
    assert.equal(of(url), undefined, url);
  assert.equal(of("https://host/"), "http://proxy:8080/");
});

test("over TLS a proxy is asked for a tunnel", async () => {
  const asked: string[] = [];
  const proxy = createServer();
  proxy.on("connect", (request, socket) => {
    asked.push(request.url ?? "");
    // To where nothing speaks TLS: that the tunnel was asked for is what is tested.
    const through = connect((server.address() as AddressInfo).port, "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      socket.pipe(through).pipe(socket);
    });
    through.on("error", () => socket.destroy());
    socket.on("error", () => through.destroy());
  });
  await new Promise<void>((done) => proxy.listen(0, "127.0.0.1", done));
  process.env["https_proxy"] = `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  try {
    await assert.rejects(
      downloads.download("https://index.invalid/a", join(folder, "tls")),
      /cannot be fetched/,
    );
    assert.equal(asked[0], "index.invalid:443");
  } finally {
    Reflect.deleteProperty(process.env, "https_proxy");
    proxy.closeAllConnections();
    proxy.close();
  }
});

test("systems without an engine have a sentence; of musl is another than of glibc", async () => {
  const { systemOf, whyNone, partsOf } = await load<Systems>("systems");
  const node = (platform: string, arch: string, glibc?: string) => ({
    platform,
    arch,
    report: { getReport: () => ({ header: { glibcVersionRuntime: glibc } }) },
  });
  assert.equal(systemOf(node("linux", "x64", "2.36")), "linux-x64");
  assert.equal(systemOf(node("linux", "x64")), "linux-x64-musl");
  for (const [platform, arch, words] of [
    ["darwin", "x64", /Intel/],
    ["win32", "arm64", /Windows on ARM/],
    ["linux", "arm64", /musl/],
    ["freebsd", "x64", /freebsd-x64/],
  ] as const) {
    const system = systemOf(node(platform, arch));
    assert.equal(partsOf(system), undefined);
    assert.match(whyNone(system), words);
  }
  for (const system of ["linux-x64", "linux-arm64", "darwin-arm64", "win32-x64"])
    assert.ok(partsOf(system), system);
});
