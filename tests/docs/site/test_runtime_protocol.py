"""Messages between a CUDA program and the executor, as the site lists them."""

from docs.site.runtime_protocol import protocol_messages
from racetrap.sim.gpu.cuda.messages import MESSAGES


def test_every_message_and_number_is_listed():
    page = protocol_messages()
    for message in MESSAGES.values():
        chapter = page.partition(f"## {message.code}: `{message.name}`\n")[2].partition("\n## ")[0]
        assert message.meaning in chapter
        for number in (*message.request, *message.reply):
            assert f"{number.name} ({number.type}: {number.meaning})" in chapter
