/** The store's tests again, on the SQLite that the package carries and that needs no set-up. */
process.env["GRADUS_SQLITE"] = "node-sqlite3-wasm"; // of this file's process alone: node runs each test file in its own
await import("./store.test.ts");
await import("./rollouts.test.ts");
await import("./driver.test.ts");
await import("./points.test.ts");
await import("./whereAndSeries.test.ts");
await import("./tasks.test.ts");
await import("./exported.test.ts");

export {};
