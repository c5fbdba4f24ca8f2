package remote

import (
	"cmp"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"
	"gopkg.in/ini.v1"
)

// An aws is what the environment says about S3.
type aws struct {
	host      string
	secure    bool
	region    string
	lookup    minio.BucketLookupType
	creds     *credentials.Credentials
	anonymous bool
	transport http.RoundTripper
}

// awsConfig reads the usual variables, the profile in the shared files, and what the machine has
// a role for.
func awsConfig(l *link) (*aws, error) {
	profile, err := awsProfile()
	if err != nil {
		return nil, err
	}
	transport, err := s3Transport(l)
	if err != nil {
		return nil, err
	}
	conf := &aws{
		transport: transport,
		host:      "s3.amazonaws.com", secure: true,
		region: cmp.Or(os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"), profile["region"]),
	}
	if endpoint := cmp.Or(os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"), profile["endpoint_url"]); endpoint != "" {
		u, err := url.Parse(endpoint)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
			return nil, errEndpoint
		}
		conf.host, conf.secure, conf.lookup = u.Host, u.Scheme == "https", minio.BucketLookupPath
		conf.region = cmp.Or(conf.region, "us-east-1")
	}
	providers := []credentials.Provider{&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}}
	if profile["aws_access_key_id"] != "" {
		providers = append(providers, &credentials.Static{Value: credentials.Value{
			AccessKeyID: profile["aws_access_key_id"], SecretAccessKey: profile["aws_secret_access_key"],
			SessionToken: profile["aws_session_token"], SignerType: credentials.SignatureV4,
		}})
	}
	role, named := awsRole()
	if role != nil {
		role.Region = conf.region
		providers = append(providers, role)
	}
	conf.creds = credentials.NewChainCredentials(providers)
	v, err := conf.creds.GetWithContext(&credentials.CredContext{Client: &http.Client{Timeout: l.settings.Timeout}})
	if conf.anonymous = err != nil || v.AccessKeyID == ""; conf.anonymous {
		if named {
			if _, err := role.Retrieve(); err != nil {
				return nil, fmt.Errorf("no credentials of the role that the variables of the environment name: %w", plain(err))
			}
		}
		conf.creds = credentials.NewStaticV4("", "", "")
	}
	return conf, nil
}

// awsRole returns the credentials of a role: of a web identity or a container, which variables name,
// else of an instance, whose address answers at once or not at all; nil if the variables exclude it.
// named reports whether the variables name a role.
func awsRole() (role *credentials.IAM, named bool) {
	variable := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return os.Getenv(name) != "" })
	}
	machine := os.Getenv("AWS_EC2_METADATA_SERVICE_ENDPOINT")
	switch {
	case variable("AWS_WEB_IDENTITY_TOKEN_FILE"):
		return &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}, Endpoint: os.Getenv("AWS_ENDPOINT_URL_STS")}, true
	case variable("AWS_CONTAINER_CREDENTIALS_RELATIVE_URI", "AWS_CONTAINER_CREDENTIALS_FULL_URI"):
		return &credentials.IAM{Client: &http.Client{Timeout: 10 * time.Second}}, true
	case os.Getenv("AWS_EC2_METADATA_DISABLED") == "true" || machine == "" && variable("AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_S3"):
		return nil, false
	}
	dial := &net.Dialer{Timeout: time.Second}
	return &credentials.IAM{Client: &http.Client{Timeout: 2 * time.Second, Transport: &http.Transport{DialContext: dial.DialContext}}, Endpoint: machine}, false
}

// s3Transport returns the transport to the servers of S3. It trusts the certificate authorities of the
// system, and those of AWS_CA_BUNDLE.
func s3Transport(l *link) (http.RoundTripper, error) {
	name := os.Getenv("AWS_CA_BUNDLE")
	if name == "" {
		return l.client.Transport, nil
	}
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool() // the bundle alone
	}
	if !pool.AppendCertsFromPEM(text) {
		return nil, fmt.Errorf("AWS_CA_BUNDLE: %s has no certificate (PEM)", name)
	}
	base := l.client.Transport.(*meter).base.(*http.Transport).Clone()
	base.TLSClientConfig = &tls.Config{RootCAs: pool}
	return &meter{link: l, base: base}, nil
}

// awsProfile returns the keys of the profile in the shared configuration.
func awsProfile() (map[string]string, error) {
	file := os.Getenv("AWS_CONFIG_FILE")
	if file == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return nil, nil // there is none
		}
		file = filepath.Join(home, ".aws", "config")
	}
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	conf, err := ini.Load(text)
	if err != nil {
		return nil, errors.New(file + ": it is not a configuration file of AWS")
	}
	name := cmp.Or(os.Getenv("AWS_PROFILE"), "default")
	for _, section := range []string{"profile " + name, name} {
		if s, err := conf.GetSection(section); err == nil {
			return s.KeysHash(), nil
		}
	}
	return nil, nil
}
