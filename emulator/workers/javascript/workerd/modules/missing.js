// A binding that is not emulated and that no test stands in for: every use of it says so, in the Worker and in the report.
export default function make({ channel, name, text }) {
  const refuse = () => {
    channel.fetch("http://cfq/missing", { method: "POST", body: JSON.stringify({ name, text }) }).catch(() => {});
    throw new Error(text);
  };
  return new Proxy(function () {}, {
    get(_target, member) {
      if (typeof member === "symbol" || member === "then" || member === "toJSON") return undefined;
      return refuse();
    },
    set: refuse, apply: refuse, construct: refuse,
  });
}
