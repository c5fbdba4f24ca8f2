package ros1

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"time"

	"github.com/bagconv/bagconv/internal/live/ros1/wire"
)

// A node answers the calls that other nodes and the master send to its address.
type node struct {
	master master
	name   string
	host   string // under which others reach it
	api    string // "http://host:port/"

	// What it does with these calls. Set before start.
	publisherUpdate func(topic string, uris []string)
	requestTopic    func(topic string) (port int, ok bool)
	shutdown        func(reason string)
	published       func() [][2]string // topics and types

	server *http.Server
	done   chan struct{}
}

// newNode returns a node that is not started. masterURI is ros1://HOST:PORT or http://HOST:PORT;
// the port may be omitted.
func newNode(masterURI, name string) (*node, error) {
	u, err := url.Parse(masterURI)
	if err != nil || u.Hostname() == "" || u.Scheme != "ros1" && u.Scheme != "http" {
		return nil, fmt.Errorf("%.200s: the address of a ROS master is ros1://HOST:11311", masterURI)
	}
	port := u.Port()
	if port == "" {
		port = "11311"
	}
	address := net.JoinHostPort(u.Hostname(), port)
	n := &node{master: master{"http://" + address + "/", u.Hostname(), name}, name: name, done: make(chan struct{})}
	n.host, err = localHost(address)
	if err != nil {
		return nil, fmt.Errorf("master %s: %w", n.master.uri, err)
	}
	return n, nil
}

// localHost returns the name or address by which other nodes reach this machine: $ROS_HOSTNAME,
// $ROS_IP, or the address from which the master is reached.
func localHost(masterAddress string) (string, error) {
	for _, name := range []string{"ROS_HOSTNAME", "ROS_IP"} {
		if host := os.Getenv(name); host != "" {
			return host, nil
		}
	}
	c, err := net.DialTimeout("udp", masterAddress, 5*time.Second) // which sends nothing
	if err != nil {
		return "", err
	}
	host := c.LocalAddr().(*net.UDPAddr).IP.String()
	return host, c.Close()
}

// listen opens a port that others reach: of the loopback alone, if the node is there.
func (n *node) listen() (net.Listener, int, error) {
	bind := ":0"
	if ip := net.ParseIP(n.host); n.host == "localhost" || ip != nil && ip.IsLoopback() {
		bind = net.JoinHostPort(n.host, "0")
	}
	l, err := net.Listen("tcp", bind)
	if err != nil {
		return nil, 0, err
	}
	return l, l.Addr().(*net.TCPAddr).Port, nil
}

// start begins to answer calls.
func (n *node) start() error {
	l, port, err := n.listen()
	if err != nil {
		return err
	}
	n.api = "http://" + net.JoinHostPort(n.host, strconv.Itoa(port)) + "/"
	n.server = &http.Server{Handler: n, ReadHeaderTimeout: wire.Timeout, ReadTimeout: wire.Timeout,
		WriteTimeout: wire.Timeout, MaxHeaderBytes: 64 << 10}
	go func() {
		defer close(n.done)
		_ = n.server.Serve(l) // it ends with close
	}()
	return nil
}

// close ends all answers.
func (n *node) close() {
	_ = n.server.Close()
	<-n.done
}

// ServeHTTP answers a call.
func (n *node) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodPost {
		http.Error(w, "this is the XML-RPC address of a ROS 1 node", http.StatusMethodNotAllowed)
		return
	}
	method, args, err := wire.DecodeCall(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	body := wire.EncodeAnswer(n.answer(method, args))
	w.Header().Set("Content-Type", "text/xml")
	w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	_, _ = w.Write(body)
}

func success(v any) []any              { return []any{1, "", v} }
func failure(code int, s string) []any { return []any{code, s, 0} }

// answer runs a call. The first argument of all is the name of the caller.
func (n *node) answer(method string, args []any) []any {
	topic := ""
	if len(args) > 1 {
		topic, _ = args[1].(string)
	}
	switch method {
	case "getPid":
		return success(os.Getpid())
	case "getMasterUri":
		return success(n.master.uri)
	case "getBusInfo", "getSubscriptions":
		return success([]any{})
	case "getBusStats":
		return success([]any{[]any{}, []any{}, []any{}})
	case "getPublications":
		list := []any{}
		if n.published != nil {
			for _, p := range n.published() {
				list = append(list, []any{p[0], p[1]})
			}
		}
		return success(list)
	case "paramUpdate":
		return success(0)
	case "shutdown":
		if n.shutdown != nil {
			n.shutdown(topic) // the reason stands there
		}
		return success(0)
	case "publisherUpdate":
		if len(args) != 3 {
			return failure(-1, "publisherUpdate has three arguments")
		}
		if n.publisherUpdate != nil {
			n.publisherUpdate(topic, texts(args[2]))
		}
		return success(0)
	case "requestTopic":
		return n.answerRequest(topic, args)
	}
	return failure(-1, fmt.Sprintf("unknown method %.80q", method))
}

// answerRequest returns the address at which a topic can be subscribed to.
func (n *node) answerRequest(topic string, args []any) []any {
	if len(args) != 3 {
		return failure(-1, "requestTopic has three arguments")
	}
	protocols, _ := args[2].([]any)
	for _, p := range protocols {
		if names := texts(p); len(names) == 0 || names[0] != "TCPROS" {
			continue
		}
		if n.requestTopic != nil {
			if port, ok := n.requestTopic(topic); ok {
				return success([]any{"TCPROS", n.host, port})
			}
		}
		return failure(0, fmt.Sprintf("not a publisher of %.200s", topic))
	}
	return failure(0, "no supported protocol: only TCPROS")
}

// randomName returns the name of a node that no other node has: the master ends an older node
// of the same name.
func randomName(prefix string) string {
	var b [6]byte
	_, _ = rand.Read(b[:])
	return prefix + "_" + hex.EncodeToString(b[:])
}

// plain removes from an error what only repeats the address, and explains the common faults.
func plain(err error) error {
	var dns *net.DNSError
	if errors.As(err, &dns) && dns.IsNotFound {
		return fmt.Errorf("the host name %s does not resolve here; set ROS_IP or ROS_HOSTNAME where that node runs, or add "+
			"the name to /etc/hosts", dns.Name)
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return errors.New("no answer in time")
	}
	return err
}
