-- Wireshark's view of frames between Margay's nodes (kernel/frames/src/frame.rs).
--
-- wireshark -X lua_script:tools/wireshark/margay.lua FILE, or a link to this file in Wireshark's folder of personal plugins.

local margay = Proto("margay", "Margay link between nodes")

local ETHERTYPE = 0x88b5
-- Bytes of the link's head behind Ethernet's.
local HEAD_BYTES = 50

local fields = {
    version = ProtoField.uint8("margay.version", "Version"),
    marked = ProtoField.bool("margay.marked", "A queue on the way was full"),
    hello = ProtoField.bool("margay.hello", "Asks who is there", 8, nil, 0x01),
    data = ProtoField.bool("margay.data", "Has data", 8, nil, 0x02),
    first = ProtoField.bool("margay.first", "First of a message", 8, nil, 0x04),
    last = ProtoField.bool("margay.last", "Last of a message", 8, nil, 0x08),
    echo = ProtoField.bool("margay.echo", "Tells of a mark", 8, nil, 0x10),
    asks = ProtoField.bool("margay.asks", "Asks for an acknowledgement", 8, nil, 0x20),
    bundle = ProtoField.bool("margay.bundle", "Has several whole messages", 8, nil, 0x40),
    source = ProtoField.uint16("margay.source", "Source node"),
    destination = ProtoField.uint16("margay.destination", "Destination node"),
    bytes = ProtoField.uint16("margay.bytes", "Bytes of payload"),
    job = ProtoField.uint64("margay.job", "Job", base.HEX),
    from = ProtoField.uint64("margay.from", "Epoch of the source"),
    to = ProtoField.uint64("margay.to", "Epoch of the destination"),
    sequence = ProtoField.uint32("margay.sequence", "Number of this frame"),
    expected = ProtoField.uint32("margay.expected", "Number expected next"),
    selective = ProtoField.uint32("margay.selective", "Frames there behind it", base.HEX),
    checksum = ProtoField.uint32("margay.checksum", "CRC-32C", base.HEX),
    payload = ProtoField.bytes("margay.payload", "Payload"),
    message = ProtoField.bytes("margay.message", "Message"),
}
margay.fields = fields

local too_short = ProtoExpert.new("margay.too_short", "Shorter than it says", expert.group.MALFORMED, expert.severity.ERROR)
margay.experts = { too_short }

function margay.dissector(buffer, packet, tree)
    packet.cols.protocol = "Margay"
    local shown = tree:add(margay, buffer())
    if buffer:len() < HEAD_BYTES then
        shown:add_proto_expert_info(too_short)
        return
    end
    shown:add(fields.version, buffer(0, 1))
    shown:add(fields.marked, buffer(1, 1))
    for _, name in ipairs({ "hello", "data", "first", "last", "echo", "asks", "bundle" }) do
        shown:add(fields[name], buffer(2, 1))
    end
    local at = 4
    local function number(name, length)
        shown:add_le(fields[name], buffer(at, length))
        at = at + length
    end
    number("source", 2)
    number("destination", 2)
    number("bytes", 2)
    for _, name in ipairs({ "job", "from", "to" }) do
        number(name, 8)
    end
    for _, name in ipairs({ "sequence", "expected", "selective", "checksum" }) do
        number(name, 4)
    end
    local source, destination = buffer(4, 2):le_uint(), buffer(6, 2):le_uint()
    local bytes, flags = buffer(8, 2):le_uint(), buffer(2, 1):uint()
    local what = "answer"
    if flags % 2 == 1 then
        what = "hello"
    elseif flags % 4 >= 2 then
        what = string.format("data %d, %d bytes", buffer(34, 4):le_uint(), bytes)
    end
    packet.cols.info = string.format("node %d to node %d: %s, expects %d", source, destination, what, buffer(38, 4):le_uint())
    if buffer:len() < HEAD_BYTES + bytes then
        shown:add_proto_expert_info(too_short)
    elseif bytes > 0 then
        local payload = shown:add(fields.payload, buffer(HEAD_BYTES, bytes))
        local at, last = HEAD_BYTES, HEAD_BYTES + bytes
        -- Each message stands behind its length.
        while flags % 128 >= 64 and at + 2 <= last do
            local length = buffer(at, 2):le_uint()
            if length == 0 or at + 2 + length > last then
                payload:add_proto_expert_info(too_short)
                break
            end
            payload:add(fields.message, buffer(at + 2, length))
            at = at + 2 + length
        end
    end
end

DissectorTable.get("ethertype"):add(ETHERTYPE, margay)
