package foxglove

import "slices"

// An item is what waits for a viewer: a text, a binary message, or the head of one and its data.
type item struct {
	text bool
	head []byte
	data *payload
}

// length returns the bytes that are sent.
func (i *item) length() int64 {
	n := int64(len(i.head))
	if i.data != nil {
		n += int64(len(i.data.data))
	}
	return n
}

// size returns the bytes that it takes until then.
func (i *item) size() int64 {
	n := int64(len(i.head)) + itemMemory
	if i.data != nil {
		n += i.data.size()
	}
	return n
}

// forget takes the messages out of the queue of a viewer.
func (p *Player) forget(v *viewer) {
	v.queue = slices.DeleteFunc(v.queue, func(i item) bool {
		if i.data != nil {
			p.release(v, i)
		}
		return i.data != nil
	})
}

// release counts an item that no longer waits for a viewer.
func (p *Player) release(v *viewer, i item) {
	v.size -= i.size()
	if i.data == nil {
		return
	}
	if i.data.waiting--; i.data.waiting == 0 {
		p.waiting -= i.data.size()
	}
}

// put adds an item to the queue.
func (v *viewer) put(i item) {
	if v.ended {
		return
	}
	v.queue = append(v.queue, i)
	v.size += i.size()
	v.wake.Signal()
}

// putMessage adds a message to the queue.
func (v *viewer) putMessage(subscription uint32, data *payload) {
	if v.ended {
		return
	}
	if data.waiting++; data.waiting == 1 {
		v.player.waiting += data.size()
	}
	v.put(item{head: messageHead(subscription, data.logTime), data: data})
}
