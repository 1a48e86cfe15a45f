// A binding that a test stands in for: calls go to Python as JSON, and so do their results. `fetch` is a request of HTTP.
export default function make({ channel, name }) {
  const at = (steps) => new Proxy(function () {}, {
    get(_target, member) {
      if (typeof member === "symbol") return undefined;
      if (member === "then") {
        if (!steps.length) return undefined;
        return (done, failed) => ask(steps).then(done, failed);
      }
      if (member === "catch" || member === "finally") return (...given) => ask(steps)[member](...given);
      if (member === "fetch" && !steps.length) return async (...given) => checked(await channel.fetch(...given));
      return at([...steps, [member]]);
    },
    apply(_target, _self, given) {
      const [last] = steps.at(-1) ?? [];
      if (last === undefined) throw new TypeError(`env.${name} is not a function`);
      return at([...steps.slice(0, -1), [last, given]]);
    },
  });
  async function ask(steps) {
    const answer = await channel.fetch("http://cfq/call", { method: "POST", body: JSON.stringify(steps) });
    return checked(answer).json();
  }
  function checked(answer) {
    const refused = answer.headers.get("x-cfq-refused");
    if (refused !== null) throw new Error(refused);
    return answer;
  }
  return at([]);
}
